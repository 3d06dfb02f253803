// SPDX-License-Identifier: Apache-2.0
/**
 * Pods get leaves of a CA whose key is in SoftHSM2, by the manifests of the values, while the token
 * is pulled, its process killed, and its holder restarted. The holder runs as its container would:
 * with the arguments and the environment of the pod, whose paths lead to a folder of the test.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
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
import { startComponents, type Installation } from '../support/cluster/installation.ts';
import { createSoftToken, softHsm, USER_PIN, type SoftToken } from '../support/pkcs11/soft-hsm.ts';

const ROUNDS = 4;
const PODS = 10;

const parts = softHsm();
const options = typeof parts === 'string' ? { skip: parts } : {};

let cluster: Cluster;
let installation: Installation;
let folder = '';
let token: SoftToken;
let pod: HeldPod;
let holder: KeyHolderProcess;

function values(module: string): object {
  return {
    signers: [{ name: HELD_SIGNER_NAME, keyHolder: true, serves: ['pods'] }],
    components: {
      'pcr-issuer': {
        keyHolder: {
          pkcs11: {
            image: 'registry.example/countersign-softhsm:1',
            module,
            env: [{ name: 'SOFTHSM2_CONF', value: '/run/countersign/module/softhsm2.conf' }],
          },
          keys: [
            {
              name: 'workload',
              secret: 'workload-hsm',
              pkcs11: { token: 'ca', label: 'workload' },
              ...HELD_KEY,
            },
          ],
        },
      },
    },
  };
}

/** Ends the process of the token. */
function killToken(): void {
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      if (status.includes(`\nPPid:\t${holder.pid() ?? 0}\n`)) process.kill(Number(name), 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

before(async () => {
  if (typeof parts === 'string') return;
  const ca = await selfSignedCa('Token CA');
  token = createSoftToken(parts);
  token.importKey(ca.key, 'workload', '01');
  folder = createHeldFolder({ 'ca.crt': ca.certificate, pin: USER_PIN });
  // As the volume of the module is mounted.
  mkdirSync(join(folder, 'module'));
  const configuration = readFileSync(join(token.folder, 'softhsm2.conf'));
  writeFileSync(join(folder, 'module/softhsm2.conf'), configuration);
  cluster = await startCluster({ version: VERSION });
  await installHeld(cluster, folder, values(parts.module));
  pod = await admittedPod(cluster);
  holder = keyHolderOf(pod, folder, { args: ['--pkcs11-addon', parts.addon], env: token.env });
  await holder.start();
  installation = await startComponents(cluster, {
    args: ['--propagation=1s'],
    argsOf: { 'pcr-issuer': socketArgs(pod, folder) },
  });
  await applyHeldSigner(cluster, ca.certificate);
});

after(async () => {
  if (typeof parts === 'string') return;
  await installation.stop();
  await cluster.stop();
  await holder.kill();
  token.remove();
  rmSync(folder, { recursive: true });
});

const create = (name: string): Promise<void> => createHeldPod(cluster, name);
const verifiedSerial = (name: string): Promise<string> => verifiedSerialOf(cluster, folder, name);
const servedBecause = (reason: string): Promise<unknown> => servedBecauseOf(cluster, reason);

test(
  'pods wait for a token that is pulled, with its reason, and none is lost',
  options,
  async () => {
    await create('first');
    await verifiedSerial('first');
    token.pull();
    killToken();
    const names = Array.from({ length: PODS }, (_, index) => `pulled-${index}`);
    await Promise.all(names.map(create));
    await servedBecause('KeyHolderTokenUnavailable');
    const kubeconfig = ['--kubeconfig', cluster.kubeconfig];
    const checked = await countersign(['check', ...kubeconfig]);
    assert.match(checked.stdout, /signers-ready: clustersigner\/workload: NotServed: pcr-issuer: /);
    assert.match(checked.stdout, /token ca: the module has no token/);
    const explained = await until('explain has the reason', 60_000, async () => {
      const args = ['explain', 'pod/pulled-0', '-n', 'team-a', ...kubeconfig];
      const { stdout } = await countersign(args);
      return /token ca: the module has no token/.test(stdout) ? stdout : undefined;
    });
    assert.doesNotMatch(explained, new RegExp(USER_PIN));
    token.plug();
    const serials = await Promise.all(names.map(verifiedSerial));
    assert.equal(new Set(serials).size, PODS);
    await servedBecause('Served');
  },
);

test(
  'no pod is lost, and none gets two leaves, while token and holder are killed',
  options,
  async () => {
    const names: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const some = Array.from({ length: PODS }, (_, index) => `killed-${round}-${index}`);
      names.push(...some);
      const created = Promise.all(some.map(create));
      killToken();
      if (round % 2 === 1) {
        await holder.kill();
        await holder.start();
      }
      await created;
    }
    const serials = await Promise.all(names.map(verifiedSerial));
    assert.equal(new Set(serials).size, names.length);
    const signed = new Set(
      [...holder.log().matchAll(/"serial":"([0-9a-f]+)"/g)].map(([, serial]) => serial),
    );
    for (const serial of serials) assert.ok(signed.has(serial), serial);
    assert.doesNotMatch(holder.log(), new RegExp(USER_PIN));
  },
);
