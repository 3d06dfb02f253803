// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { EVERY_COMPONENT } from '../support/cluster/component-process.ts';

const root = join(import.meta.dirname, '../..');
const components: readonly string[] = EVERY_COMPONENT;
const inSystem = ['-n', 'countersign-system'];

// A cluster of its own: what is installed here has the names that others work with.
let cluster: Cluster;
before(async () => (cluster = await startCluster({ nodes: 1 })));
after(() => cluster.stop());

test('kubectl apply -k installs everything without a warning', async () => {
  // The definition of ClusterSigner is a moment later than its first mention.
  const { stderr } = await until('everything is applied', 30_000, () =>
    cluster.kubectl(['apply', '-k', root]),
  );
  assert.doesNotMatch(stderr, /would violate PodSecurity|unknown field|deprecated/);
});

test('the restricted pod security standard admits a pod of every component', async () => {
  await until('every Deployment has its pod', 30_000, async () => {
    const path = 'jsonpath={.items[*].metadata.labels.app\\.kubernetes\\.io/component}';
    const { stdout } = await cluster.kubectl(['get', 'pods', ...inSystem, '-o', path]);
    return components.every((name) => stdout.split(' ').includes(name));
  });
});

test('the namespace of the CA keys has no workload and no ServiceAccount', async () => {
  const all = 'pods,deployments,serviceaccounts';
  const { stdout } = await cluster.kubectl(['get', all, '-n', 'countersign-keys', '-o', 'name']);
  assert.equal(stdout.replace('serviceaccount/default', '').trim(), '');
});

test('the API server accepts the examples, and kubectl get prints their columns', async () => {
  await cluster.kubectl(['apply', '-f', join(root, 'deploy/examples')]);
  const { stdout } = await cluster.kubectl(['get', 'csigner']);
  assert.match(stdout, /^NAME +SIGNER +READY +REASON +CA EXPIRES +AGE\n/);
  assert.match(stdout, /^people +example\.com\/people/m);
  await cluster.kubectl(['delete', '-f', join(root, 'deploy/examples'), '--wait=false']);
});
