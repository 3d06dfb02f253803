// SPDX-License-Identifier: Apache-2.0
/**
 * Faults that people meet, made on a real cluster: `countersign check` or `countersign explain`
 * names each, and what they advise fixes it where a command can. The others of
 * docs/explanation/ten-faults.md are in check.test.ts and explain.test.ts.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { KEYS_NAMESPACE, componentKubeconfig } from '../support/cluster/installation.ts';
import { certificateAuthority } from '../support/ca/generated.ts';
import { apply } from '../support/cluster/apply.ts';
import { explained, shows, showsNothing } from '../support/cluster/asked.ts';
import {
  startComponent,
  type ComponentName,
  type ComponentProcess,
} from '../support/cluster/component-process.ts';
import { BUNDLE, countersign } from '../support/cluster/countersign.ts';
import { applySigner, example, startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { createPod, createTeam, podObject } from '../support/cluster/pods.ts';

const CLOCK = join(import.meta.dirname, '../faults/preload/clock.ts');
const TEAM = 'team-faults';
const POD = {
  namespace: TEAM,
  serviceAccount: 'web',
  node: 'node-1',
  signerName: 'example.com/workload',
  keyType: 'ED25519',
};

let fixture: Fixture;
const running = new Map<ComponentName, ComponentProcess>();
before(async () => {
  fixture = await startFixture();
  for (const each of Object.values(fixture.installation.components))
    running.set(each.name as ComponentName, each);
  await createTeam(fixture.cluster, TEAM, ['web']);
});
after(async () => {
  await Promise.all([...running.values()].map((each) => each.stop()));
  await fixture.stop();
});

async function stop(name: ComponentName): Promise<void> {
  await running.get(name)?.stop();
  running.delete(name);
}

async function start(
  name: ComponentName,
  options: Partial<Parameters<typeof startComponent>[0]> = {},
): Promise<void> {
  const kubeconfig = await componentKubeconfig(fixture.cluster, name);
  running.set(name, await startComponent({ name, kubeconfig, ...options }));
}

test('check and explain name a component whose clock is twelve minutes ahead', async () => {
  const { cluster } = fixture;
  await stop('pcr-issuer');
  writeFileSync(join(cluster.directory, 'clock'), `${12 * 60_000} 1`);
  await start('pcr-issuer', {
    program: [process.execPath, '--import', CLOCK, BUNDLE],
    env: { ...process.env, FAULT_DIRECTORY: cluster.directory },
  });
  await createPod(cluster, { ...POD, name: 'clock' });
  await shows(
    cluster,
    /^error component-clocks lease\/countersign-pcr-issuer\S* .* 7[12]\d s ahead of the API server's, so that it signs nothing/,
  );
  const summary =
    /^ClocksApart: signing is paused: the clock of the node on which pcr-issuer runs is 7[12]\d s ahead/;
  await explained(cluster, { state: 'WaitingForComponent', summary }, 'pod/clock', '-n', TEAM);
  await stop('pcr-issuer');
  await start('pcr-issuer');
  await explained(cluster, { state: 'Issued' }, 'pod/clock', '-n', TEAM);
  await showsNothing(cluster);
});

test('a Secret without its owner’s consent is named, and the printed command gives it', async () => {
  const { cluster } = fixture;
  const people = ['secret', 'people-ca', '-n', KEYS_NAMESPACE];
  await cluster.kubectl(['annotate', ...people, 'countersign.dev/signer-name-']);
  const { remediation } = await shows(
    cluster,
    /^error signers-ready clustersigner\/people SecretNotGranted: Secret countersign-keys\/people-ca/,
  );
  await explained(cluster, { state: 'NotReady', summary: /SecretNotGranted/ }, 'signer/people');
  const [command, ...args] = (remediation.split(' #')[0] ?? '').trim().split(' ');
  assert.equal(command, 'kubectl');
  await cluster.kubectl(args);
  await showsNothing(cluster);
});

test('an anchor of somebody else in a bundle is named while no attester puts it right', async () => {
  const { cluster } = fixture;
  const name = 'example.com:workload:primary';
  await stop('attester');
  const { stdout } = await cluster.kubectl(['get', 'clustertrustbundle', name, '-o', 'json']);
  const bundle = JSON.parse(stdout) as { spec: { trustBundle: string } };
  const { certificate } = await certificateAuthority();
  bundle.spec.trustBundle += certificate;
  await cluster.kubectl(['replace', '-f', '-'], { input: JSON.stringify(bundle) });
  await shows(
    cluster,
    /^warning bundles-equal clustersigner\/workload the bundle holds sha256:\w+, which is not a CA of this ClusterSigner/,
  );
  await start('attester');
  await showsNothing(cluster);
});

test('check names a node with an older kubelet, and explain does for a pod on it', async () => {
  const { cluster } = fixture;
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'old-1' } };
  await apply(cluster, node);
  const unknown = Object.fromEntries(
    ['architecture', 'bootID', 'containerRuntimeVersion', 'kernelVersion', 'kubeProxyVersion']
      .concat('machineID', 'operatingSystem', 'osImage', 'systemUUID')
      .map((field) => [field, '']),
  );
  const status = { nodeInfo: { ...unknown, kubeletVersion: 'v1.34.6' } };
  await cluster.kubectl([
    'patch',
    'node',
    'old-1',
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status }),
  ]);
  await shows(cluster, /^warning kubelet-versions node\/old-1 the kubelet is v1\.34\.6/);
  const pod = podObject({ ...POD, name: 'old', node: 'old-1' }) as { spec: object };
  await apply(cluster, { ...pod, spec: { ...pod.spec, nodeName: 'old-1' } });
  const summary = /kubelet of node old-1 is v1\.34\.6, and does not know podCertificate volumes/;
  await explained(cluster, { state: 'WaitingForNode', summary }, 'pod/old', '-n', TEAM);
  await cluster.kubectl(['delete', 'pod', 'old', '-n', TEAM, '--force', '--grace-period=0']);
  await cluster.kubectl(['delete', 'node', 'old-1']);
  await showsNothing(cluster);
});

test('an edited policy is named with what it guards; the printed command restores it', async () => {
  const { cluster } = fixture;
  const policy = ['validatingadmissionpolicy', 'countersign-cluster-signers'];
  const patch = [{ op: 'replace', path: '/spec/validations/0/expression', value: 'true' }];
  await cluster.kubectl(['patch', ...policy, '--type=json', '-p', JSON.stringify(patch)]);
  const { remediation } = await shows(
    cluster,
    /^error policies-equal validatingadmissionpolicy\/countersign-cluster-signers .*spec\.validations\[0\]\.expression differs: .*ClusterSigners/,
  );
  assert.match(
    remediation,
    /^countersign manifests .* \| kubectl apply --server-side .*# without values: countersign rbac --from-cluster /,
  );
  const { stdout } = await countersign(
    ['rbac', '--from-cluster', '--kubeconfig', cluster.kubeconfig],
    undefined,
    BUNDLE,
  );
  const [, apply = ''] = / \| kubectl (.*?) +#/.exec(remediation) ?? [];
  await cluster.kubectl(apply.split(' '), { input: stdout });
  await showsNothing(cluster);
});

// The last one: the signer that it makes again signs after the propagation time only.
test('explain names a CA with an unserved anchor, and when it signs once published', async () => {
  const { cluster } = fixture;
  await stop('attester');
  await cluster.kubectl(['delete', 'clustersigner', 'workload']);
  await cluster.kubectl(['delete', 'secret', 'workload-ca', '-n', KEYS_NAMESPACE]);
  await applySigner(cluster, example('workload'));
  await shows(cluster, /^error components-running deployment\/countersign-attester /);
  await shows(cluster, /^error bundles-equal clustersigner\/workload sha256:\w+ \(Active\) is not/);
  await createPod(cluster, { ...POD, name: 'anchor' });
  const of = ['pod/anchor', '-n', TEAM] as const;
  const absent = /^the trust anchor sha256:\w+ is not in the published bundle yet/;
  await explained(cluster, { state: 'WaitingForTrust', summary: absent }, ...of);
  await start('attester');
  const recent = /^the trust anchor sha256:\w+ was published recently; signing .* starts at /;
  const { next } = await explained(cluster, { state: 'WaitingForTrust', summary: recent }, ...of);
  assert.ok(Date.parse(next?.at ?? '') > Date.now());
});
