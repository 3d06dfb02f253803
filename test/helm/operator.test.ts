// SPDX-License-Identifier: Apache-2.0
/**
 * From a Helm release to the operator: what is adopted, how Helm forgets, and what `helm uninstall`
 * takes away otherwise. The cluster has no nodes: what is tested is whose each object is. The tests
 * follow each other.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isLasting } from '#install/lasting.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { until } from '../cluster/until.ts';
import { healed, secondPassWritesNothing } from '../operator/healed.ts';
import { DESIRED, EXAMPLE, SYSTEM, WAIT_MS, startStand, type Stand } from '../operator/stand.ts';
import { apply } from '../support/cluster/apply.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import { CHART, startHelm, type Helm } from './helm.ts';
import { RELEASE } from './stand.ts';

/** What Helm keeps of a release. */
const RECORD = ['-n', 'default', '-l', `owner=helm,name=${RELEASE}`];

let stand: Stand;
let helm: Helm;
let operator: ComponentProcess;
before(async () => {
  stand = await startStand({ isInstalled: false });
  helm = await startHelm(stand.cluster.kubeconfig);
});
after(async () => {
  helm.close();
  await stand.close();
});

function uids(objects: readonly ManagedObject[]): Promise<readonly unknown[]> {
  return Promise.all(objects.map(async (each) => (await stand.admin.read(each))?.metadata.uid));
}

/** Without the ClusterSigner of our own ports, which a release brings with its first upgrade. */
const RELEASED = DESIRED.filter(({ kind }) => kind !== 'ClusterSigner');
const CA: ManagedObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'Opaque',
  metadata: { name: 'workload-ca', namespace: 'countersign-keys' },
};

test('what Helm installed is adopted in place, and an Event names the release', async () => {
  await helm(['install', RELEASE, CHART], { signers: EXAMPLE.spec.signers });
  await apply(stand.cluster, CA);
  await stand.installOperator();
  const before_ = await uids(RELEASED);
  assert.ok(before_.every((uid) => uid !== undefined));
  operator = await stand.start();
  await stand.install();
  await stand.condition('Progressing', 'False');
  await healed(stand);
  await stand.condition('Degraded', 'False');
  assert.deepEqual(await uids(RELEASED), before_);
  await until('an Event says so', WAIT_MS, async () => {
    const args = ['get', 'events.events.k8s.io', '-n', 'default', '-o', 'json'];
    const { stdout } = await stand.cluster.kubectl(args);
    return /adopted .*from Helm release countersign: forget it there/.test(stdout);
  });
});

test('after that a second pass writes nothing', async () => {
  operator = await secondPassWritesNothing(stand, operator);
});

test('a release whose record is deleted cannot be uninstalled, and nothing is touched', async () => {
  const { stdout } = await stand.cluster.kubectl(['get', 'secrets', ...RECORD, '-o', 'json']);
  const before_ = await uids(DESIRED);
  await stand.cluster.kubectl(['delete', 'secrets', ...RECORD]);
  const said = await helm.tried(['uninstall', RELEASE]);
  assert.notEqual(said.code, 0);
  assert.match(said.stderr, /release: not found/);
  assert.deepEqual(await uids(DESIRED), before_);
  // For the next test, which does not forget.
  const { items } = JSON.parse(stdout) as { items: { metadata: Record<string, unknown> }[] };
  for (const { metadata, ...rest } of items) {
    const { name, namespace, labels } = metadata;
    const input = JSON.stringify({ ...rest, metadata: { name, namespace, labels } });
    await stand.cluster.kubectl(['create', '-f', '-'], { input });
  }
});

test('helm uninstall keeps namespaces, keys and CAs; operator restores the components', async () => {
  const kept = [...DESIRED, CA].filter(
    ({ kind, metadata }) => metadata === CA.metadata || isLasting(kind, metadata.name),
  );
  const before_ = await uids(kept);
  await operator.stop();
  await helm(['uninstall', RELEASE, '--wait']);
  assert.deepEqual(await uids(kept), before_);
  assert.equal(await stand.admin.read(deploymentOf('signer')), undefined);
  assert.ok((await stand.admin.read(deploymentOf('operator'))) !== undefined);
  assert.ok((await stand.countersign()) !== undefined);
  operator = await stand.start();
  await stand.condition('Progressing', 'False');
  await healed(stand);
  await stand.condition('Degraded', 'False');
});

function deploymentOf(component: string): ManagedObject {
  const metadata = { name: `countersign-${component}`, namespace: SYSTEM };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata };
}
