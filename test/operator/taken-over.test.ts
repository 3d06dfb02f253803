// SPDX-License-Identifier: Apache-2.0
/** What somebody cannot do who holds the operator's token. SECURITY.md says the same. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { USER, startStand, type Stand } from './stand.ts';

let stand: Stand;
before(async () => (stand = await startStand()));
after(() => stand.close());

const RBAC = 'rbac.authorization.k8s.io/v1';
const ALL = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];

/** As the operator writes: by server-side apply. @returns what the API server says */
async function applied(object: object): Promise<string> {
  const { stderr, code } = await stand.cluster.kubectl(
    ['apply', '--server-side', '--dry-run=server', `--as=${USER}`, '-f', '-'],
    { input: JSON.stringify(object), allowFailure: true },
  );
  return code === 0 ? 'done' : stderr;
}

const role = (name: string, rules: readonly object[]): object => ({
  ...{ apiVersion: RBAC, kind: 'ClusterRole', metadata: { name }, rules },
});

test('it makes the roles of its components, with no more than they may', async () => {
  const pods = { apiGroups: ['certificates.k8s.io'], resources: ['podcertificaterequests'] };
  const own = [{ ...pods, verbs: ['get', 'list', 'watch'] }];
  assert.equal(await applied(role('countersign-signer', own)), 'done');
  assert.match(
    await applied(role('countersign-signer', ALL)),
    /attempting to grant RBAC permissions not currently held/,
  );
});

test('it binds its components to no role that may more than itself', async () => {
  const said = await applied({
    ...{ apiVersion: RBAC, kind: 'ClusterRoleBinding', metadata: { name: 'countersign-signer' } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [
      { kind: 'ServiceAccount', name: 'countersign-signer', namespace: 'countersign-system' },
    ],
  });
  assert.match(said, /attempting to grant RBAC permissions not currently held/);
});

const REFUSED: readonly (readonly [what: string, ...args: string[]])[] = [
  ['make a role of another name', 'patch', 'clusterroles/other'],
  ['make a Deployment of another name', 'patch', 'deployments/other', '-n', 'countersign-system'],
  ['write Deployments of another namespace', 'patch', 'deployments/x', '-n', 'kube-system'],
  ['write a MutatingAdmissionPolicy', 'create', 'mutatingadmissionpolicies'],
  ['write a Countersign', 'patch', 'countersigns.operator.countersign.dev/cluster'],
  ['read a Secret of another name', 'get', 'secrets/other', '-n', 'countersign-keys'],
  ['list Secrets', 'list', 'secrets', '-n', 'countersign-keys'],
  ['make a Secret beside the components', 'create', 'secrets', '-n', 'countersign-system'],
  ['delete a CA Secret', 'delete', 'secrets/workload-ca', '-n', 'countersign-keys'],
  ['delete a definition', 'delete', 'crd/clustersigners.countersign.dev'],
  ['delete a namespace', 'delete', 'namespaces/countersign-keys'],
  ['mint a token', 'create', 'serviceaccounts/countersign-signer', '--subresource=token'],
];

for (const [what, ...args] of REFUSED) {
  test(`it cannot ${what}`, async () => {
    const { stdout } = await stand.cluster.kubectl(['auth', 'can-i', ...args, `--as=${USER}`], {
      allowFailure: true,
    });
    assert.equal(stdout.trim(), 'no');
  });
}
