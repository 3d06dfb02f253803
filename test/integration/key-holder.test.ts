// SPDX-License-Identifier: Apache-2.0
/**
 * Pods get leaves of a CA whose key no component has, by the manifests of the values, while its key
 * holder is killed. The holder runs as its container would: with the arguments of the pod, whose
 * paths lead to a folder of the test.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { selfSignedCa } from '../support/ca/ca-secret.ts';
import { countersign } from '../support/cluster/countersign.ts';
import { VERSION } from '../support/cluster/fixture.ts';
import {
  admittedPod,
  applyHeldSigner,
  createHeldFolder,
  createHeldPod,
  HELD_KEY,
  HELD_SIGNER_NAME,
  installHeld,
  keyHolderOf,
  servedBecauseOf,
  socketArgs,
  verifiedSerialOf,
  type HeldPod,
  type KeyHolderProcess,
} from '../support/cluster/held-workload.ts';
import {
  componentKubeconfig,
  KEYS_NAMESPACE,
  startComponents,
  SYSTEM_NAMESPACE,
  type Installation,
} from '../support/cluster/installation.ts';

const PODS = 8;

const VALUES = {
  signers: [{ name: HELD_SIGNER_NAME, keyHolder: true, serves: ['pods'] }],
  components: {
    'pcr-issuer': {
      keyHolder: {
        keys: [
          {
            name: 'workload',
            secret: 'workload-key',
            ...HELD_KEY,
          },
        ],
      },
    },
  },
};

let cluster: Cluster;
let installation: Installation;
let folder = '';
let pod: HeldPod;
let holder: KeyHolderProcess;

/** The log lines of the holder, of all its processes. */
function log(): readonly Readonly<Record<string, unknown>>[] {
  const lines = holder.log().split('\n').slice(0, -1);
  return lines
    .filter((each) => each.startsWith('{'))
    .map((each) => JSON.parse(each) as Record<string, unknown>);
}

before(async () => {
  const ca = await selfSignedCa('Held CA');
  folder = createHeldFolder({ 'ca.crt': ca.certificate, 'ca.key': ca.key });
  cluster = await startCluster({ version: VERSION });
  await installHeld(cluster, folder, VALUES);
  const files = ['ca.key', 'ca.crt'].map((name) => join(folder, 'keys/workload', name));
  const secret = ['create', 'secret', 'generic', 'workload-key', '-n', SYSTEM_NAMESPACE];
  await cluster.kubectl([...secret, ...files.map((file) => `--from-file=${file}`)]);
  pod = await admittedPod(cluster);
  holder = keyHolderOf(pod, folder);
  await holder.start();
  installation = await startComponents(cluster, {
    args: ['--propagation=1s'],
    argsOf: { 'pcr-issuer': socketArgs(pod, folder) },
  });
  await applyHeldSigner(cluster, ca.certificate);
});

after(async () => {
  await installation.stop();
  await cluster.stop();
  await holder.kill();
  rmSync(folder, { recursive: true });
});

const create = (name: string): Promise<void> => createHeldPod(cluster, name);
const verifiedSerial = (name: string): Promise<string> => verifiedSerialOf(cluster, folder, name);
const servedBecause = (reason: string): Promise<unknown> => servedBecauseOf(cluster, reason);

test('the component’s own token reads no Secret of the CA, and its pod mounts none', async () => {
  await installation.components['pcr-issuer'].ready(60_000);
  const kubeconfig = await componentKubeconfig(cluster, 'pcr-issuer');
  for (const [name, namespace] of [
    ['workload-key', SYSTEM_NAMESPACE],
    ['workload-ca', KEYS_NAMESPACE],
  ] as const) {
    const args = ['get', 'secret', name, '-n', namespace, '--kubeconfig', kubeconfig];
    const { code, stderr } = await cluster.kubectl(args, { allowFailure: true });
    assert.notEqual(code, 0);
    assert.match(stderr, /Forbidden/, `${namespace}/${name}`);
  }
  const mounts = pod.containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name));
  assert.ok(mounts.includes('key-holder-sockets'));
  assert.ok(!mounts.includes('key-holder-keys'));
  assert.equal(pod.initContainers?.[0]?.name, 'key-holder');
});

test('a pod gets a leaf by the holder', async () => {
  await create('first');
  const serial = await verifiedSerial('first');
  assert.equal(log().filter((each) => each['serial'] === serial).length, 1);
});

test('pods wait for a killed holder with a reason, and none is lost', async () => {
  const names = Array.from({ length: PODS }, (_, index) => `pod-${index}`);
  await holder.kill();
  await Promise.all(names.map(create));
  const reason = await until('an Event says why the pods wait', 60_000, async () => {
    const { stdout } = await cluster.kubectl(['get', 'events', '-n', 'team-a', '-o', 'json']);
    const { items } = JSON.parse(stdout) as { items: { reason: string; message: string }[] };
    return items.find((each) => each.reason === 'KeyHolderUnavailable');
  });
  assert.match(reason.message, /the key holder of the CA does not answer/);
  assert.doesNotMatch(reason.message, /PRIVATE KEY/);
  await servedBecause('KeyHolderUnavailable');
  const checked = await countersign(['check', '--kubeconfig', cluster.kubeconfig]);
  assert.match(
    checked.stdout,
    /signers-ready: clustersigner\/workload: NotServed: pcr-issuer: the key holder .*does not answer/,
  );
  assert.match(checked.stdout, /deployment\/countersign-pcr-issuer -c key-holder/);
  const args = ['explain', 'pod/pod-0', '-n', 'team-a', '--kubeconfig', cluster.kubeconfig];
  const explained = await countersign(args);
  assert.match(explained.stdout, /KeyHolderUnavailable|key holder of the CA does not answer/);
  await holder.start();
  // It is killed again while it signs.
  await until('the holder signs', 60_000, () => log().at(-1)?.['msg'] === 'signed');
  await holder.kill();
  await holder.start();
  const serials = await Promise.all(names.map(verifiedSerial));
  assert.equal(new Set(serials).size, PODS);
  await servedBecause('Served');
  const signed = log()
    .filter((each) => each['msg'] === 'signed')
    .map((each) => each['serial']);
  for (const serial of serials) assert.ok(signed.includes(serial), serial);
  // The same bytes are sent again, so only bytes in flight at a long absence are lost.
  const undelivered = new Set(signed).size - PODS - 1;
  assert.ok(undelivered <= PODS, `${undelivered} signatures that no pod got`);
});
