// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openCluster, type Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import { until } from '../cluster/until.ts';
import { apply } from '../support/cluster/apply.ts';

const root = join(import.meta.dirname, '../..');
const name = 'status-admission';
const signerName = 'status-admission.example.com/x';
/** The API server compiles a new policy, and hears of a new grant, within a few seconds. */
const SOON = 180_000;

let cluster: Cluster;
/**
 * The kubeconfig of a ServiceAccount that may write the status of ClusterSigners, as RBAC has it.
 */
let writer: string;

before(async () => {
  cluster = await openCluster();
  for (const file of ['crds', 'admission/cluster-signers.yaml']) {
    await cluster.kubectl(['apply', '-f', join(root, 'deploy', file)]);
  }
  await established(cluster, 'crd/clustersigners.countersign.dev');
  await cluster.kubectl(['create', 'namespace', name]);
  await until('it has its ServiceAccount', SOON, async () => {
    const get = ['get', 'serviceaccount', 'default', '-n', name];
    return (await cluster.kubectl(get, { allowFailure: true })).code === 0;
  });
  writer = await cluster.serviceAccountKubeconfig(name, 'default');
  await apply(cluster, {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'ClusterSigner',
    metadata: { name },
    spec: {
      signerName,
      authority: {
        managed: { secret: { namespace: 'nobodys-keys', name: 'x' }, commonName: 'x' },
      },
      profile: { keyTypes: ['ED25519'], usages: ['client auth'] },
    },
  });
  await bind('status', {
    apiGroups: ['countersign.dev'],
    resources: ['clustersigners', 'clustersigners/status'],
    verbs: ['get', 'patch', 'update'],
  });
});

after(async () => {
  const bound = ['status', 'attest'].map((suffix) => `${name}-${suffix}`);
  const roles = ['delete', 'clusterrole,clusterrolebinding', '--ignore-not-found'];
  await cluster.kubectl([...roles, ...bound]);
  await cluster.kubectl(['delete', 'clustersigner', name, '--ignore-not-found']);
  await cluster.kubectl(['delete', 'namespace', name, '--wait=false']);
  await cluster.stop();
});

test('writing a ClusterSigner’s status requires the verb attest on its signer name', async () => {
  await until('the policy is in force', SOON, async () =>
    /default may not attest for status-admission\.example\.com\/x, so it may not write the status/.test(
      (await write(writer, 1)).stderr,
    ),
  );
  await bind('attest', {
    apiGroups: ['certificates.k8s.io'],
    resources: ['signers'],
    resourceNames: [signerName],
    verbs: ['attest'],
  });
  await until('the grant is heard', SOON, async () => (await write(writer, 2)).code === 0);
});

test('an administrator may write the status of a ClusterSigner', async () => {
  const { code, stderr } = await write(undefined, 3);
  assert.equal(code, 0, stderr);
});

async function write(
  kubeconfig: string | undefined,
  observedGeneration: number,
): Promise<{ readonly code: number; readonly stderr: string }> {
  const patch = JSON.stringify({ status: { observedGeneration } });
  return cluster.kubectl(
    ['patch', 'clustersigner', name, '--subresource=status', '--type=merge', '-p', patch],
    { allowFailure: true, ...(kubeconfig === undefined ? {} : { kubeconfig }) },
  );
}

async function bind(suffix: string, rule: object): Promise<void> {
  const role = `${name}-${suffix}`;
  await apply(cluster, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: role },
    rules: [rule],
  });
  const to = [`--clusterrole=${role}`, `--serviceaccount=${name}:default`];
  await cluster.kubectl(['create', 'clusterrolebinding', role, ...to]);
}
