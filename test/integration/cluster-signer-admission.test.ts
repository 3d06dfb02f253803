// SPDX-License-Identifier: Apache-2.0
/** Who may write and delete a ClusterSigner, and take a Secret's name by it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import type { KubectlResult } from '../cluster/kubectl.ts';
import { until } from '../cluster/until.ts';
import { apply } from '../support/cluster/apply.ts';

const root = join(import.meta.dirname, '../..');
/** The API server compiles a new policy, and hears of a new grant, within a few seconds. */
const SOON = 180_000;

let cluster: Cluster;

before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  for (const file of ['namespaces.yaml', 'crds', 'admission/cluster-signers.yaml']) {
    await cluster.kubectl(['apply', '-f', join(root, 'deploy', file)]);
  }
  await established(cluster, 'crd/clustersigners.countersign.dev');
});

after(async () => {
  await cluster.stop();
});

test('deleting a ClusterSigner takes the verbs that writing it takes', async () => {
  await cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(signer('guarded')) });
  const account = 'system:serviceaccount:default:default';
  await bind('deletes', { resources: ['clustersigners'], verbs: ['delete', 'get'] });
  const remove = async (): Promise<{ code: number; stderr: string }> =>
    cluster.kubectl(['delete', 'clustersigner', 'guarded', '--as', account], {
      allowFailure: true,
    });
  await until('the policy is in force', SOON, async () =>
    /may not (?:sign|attest) for cluster-signer-admission\.example\.com\/guarded/.test(
      (await remove()).stderr,
    ),
  );
  await bind('signs', {
    apiGroups: ['certificates.k8s.io'],
    resources: ['signers'],
    resourceNames: ['cluster-signer-admission.example.com/guarded'],
    verbs: ['sign', 'attest'],
  });
  await until('the grant is heard', SOON, async () => (await remove()).code === 0);
});

/** Its update ends a deletion. RBAC lets it write every object, and it has no verb on signers. */
const COLLECTOR = 'system:serviceaccount:kube-system:generic-garbage-collector';

const patch = (name: string, body: object, ...more: readonly string[]): Promise<KubectlResult> => {
  const text = JSON.stringify(body);
  const command = ['patch', 'clustersigner', name, '--type=merge', '-p', text, '--as', COLLECTOR];
  return cluster.kubectl([...command, ...more], { allowFailure: true });
};
const LABELLED = { metadata: { labels: { a: 'b' } } };

for (const cascade of ['foreground', 'orphan'])
  test(`a ClusterSigner deleted with --cascade=${cascade} is gone`, async () => {
    await cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(signer(cascade)) });
    await until('the policy is in force', SOON, async () =>
      /may not (?:sign|attest) for/.test(
        (await patch(cascade, LABELLED, '--dry-run=server')).stderr,
      ),
    );
    const how = [`--cascade=${cascade}`, '--wait=false'];
    await cluster.kubectl(['delete', 'clustersigner', cascade, ...how]);
    await until('it is gone', SOON, async () => {
      const found = await cluster.kubectl(['get', 'clustersigner', cascade], {
        allowFailure: true,
      });
      return /NotFound/.test(found.stderr);
    });
  });

test('of a ClusterSigner that is being deleted only finalizers change without verbs', async () => {
  const held = signer('held');
  const metadata = { name: 'held', finalizers: ['example.com/held'] };
  await cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify({ ...held, metadata }) });
  await until('the policy is in force', SOON, async () =>
    /may not (?:sign|attest) for/.test((await patch('held', LABELLED, '--dry-run=server')).stderr),
  );
  await cluster.kubectl(['delete', 'clustersigner', 'held', '--wait=false']);
  const other = { spec: { profile: { usages: ['server auth'] } } };
  for (const body of [LABELLED, other, { ...other, metadata: { finalizers: null } }])
    assert.match((await patch('held', body)).stderr, /may not (?:sign|attest) for/);
  assert.equal((await patch('held', { metadata: { finalizers: null } })).code, 0);
});

test('a ClusterSigner takes no Secret that its writer may not use', async () => {
  const account = 'system:serviceaccount:default:writer';
  const subject = ['--as', account];
  await bind('writes', { resources: ['clustersigners'], verbs: ['create', 'get'] }, 'writer');
  await bind(
    'signs-squatter',
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['signers'],
      resourceNames: ['cluster-signer-admission.example.com/squatter'],
      verbs: ['sign', 'attest'],
    },
    'writer',
  );
  const create = async (): Promise<{ code: number; stderr: string }> =>
    cluster.kubectl(['create', '-f', '-', ...subject], {
      input: JSON.stringify(signer('squatter')),
      allowFailure: true,
    });
  await until('the policy is in force', SOON, async () =>
    /may not use Secret countersign-keys\/squatter-ca for a CA/.test((await create()).stderr),
  );
  await bind(
    'uses',
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['squatter-ca'], verbs: ['use'] },
    'writer',
  );
  await until('the grant is heard', SOON, async () => (await create()).code === 0);
});

function signer(name: string): object {
  return {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'ClusterSigner',
    metadata: { name },
    spec: {
      signerName: `cluster-signer-admission.example.com/${name}`,
      authority: {
        managed: { secret: { namespace: 'countersign-keys', name: `${name}-ca` }, commonName: 'x' },
      },
      profile: { keyTypes: ['ED25519'], usages: ['client auth'] },
    },
  };
}

/** Grants a rule to a ServiceAccount of namespace default, which need not exist. */
async function bind(suffix: string, rule: object, account = 'default'): Promise<void> {
  const name = `cluster-signer-admission-${suffix}`;
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [{ apiGroups: ['countersign.dev'], ...rule }],
  };
  await apply(cluster, role);
  const subject = `--serviceaccount=default:${account}`;
  await cluster.kubectl(['create', 'clusterrolebinding', name, `--clusterrole=${name}`, subject]);
}
