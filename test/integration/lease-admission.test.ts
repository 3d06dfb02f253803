// SPDX-License-Identifier: Apache-2.0
/** Leases of a component are written by that component and by nobody else, whatever roles say. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';

const root = join(import.meta.dirname, '../..');
const NAMESPACE = 'countersign-system';
const SOON = 180_000;

let cluster: Cluster;
const made: string[] = [];
before(async () => {
  cluster = await openCluster();
  for (const file of ['deploy/namespaces.yaml', 'rbac', 'deploy/admission/leases.yaml']) {
    await cluster.kubectl(['apply', '-f', join(root, file)]);
  }
  await until('the policies are in force', SOON, async () =>
    /may not write Lease/.test((await write({ as: undefined, component: 'signer' })).stderr),
  );
});
after(async () => {
  await cluster.kubectl(['delete', 'lease', ...made, '-n', NAMESPACE, '--ignore-not-found']);
});

interface Written {
  /** The component that writes; undefined: an administrator. */
  readonly as: string | undefined;
  readonly component: string;
  readonly name?: string;
  readonly verb?: 'create' | 'replace';
}

function account(component: string | undefined): readonly string[] {
  if (component === undefined) return [];
  return ['--as', `system:serviceaccount:${NAMESPACE}:countersign-${component}`];
}

async function write(
  wanted: Written,
): Promise<{ name: string; code: number | null; stderr: string }> {
  const { as, component, verb = 'create' } = wanted;
  const name = wanted.name ?? `countersign-${component}-${randomBytes(4).toString('hex')}`;
  made.push(name);
  const labels = {
    'app.kubernetes.io/name': 'countersign',
    'app.kubernetes.io/component': component,
  };
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: NAMESPACE, labels },
    spec: { holderIdentity: name, leaseDurationSeconds: 15 },
  };
  const { code, stderr } = await cluster.kubectl([verb, '-f', '-', ...account(as)], {
    input: JSON.stringify(lease),
    allowFailure: true,
  });
  return { name, code, stderr };
}

test('a component writes its own Leases', async () => {
  for (const component of ['approver', 'signer', 'pcr-issuer', 'certificate-request']) {
    const own = await write({ as: component, component });
    assert.equal(own.code, 0, own.stderr);
    const again = await write({ as: component, component, name: own.name, verb: 'replace' });
    assert.equal(again.code, 0, again.stderr);
  }
  const leader = { as: 'authority', component: 'authority' };
  const name = `countersign-authority.${randomBytes(4).toString('hex')}`;
  assert.equal((await write({ ...leader, name })).code, 0);
});

const refused: [law: string, by: Written][] = [
  ['the approver invents a signer', { as: 'approver', component: 'signer' }],
  ['an administrator invents a signer', { as: undefined, component: 'signer' }],
  [
    'the approver takes a signer’s name',
    { as: 'approver', component: 'approver', name: 'countersign-signer-x' },
  ],
  ['a signer goes under another name', { as: 'approver', component: 'signer', name: 'innocent' }],
];

for (const [law, by] of refused) {
  test(`a Lease write is rejected: ${law}`, async () => {
    assert.match((await write(by)).stderr, /may not write Lease/);
  });
}

test('a component can delete only its own Lease; administrators can delete any', async () => {
  const one = await write({ as: 'signer', component: 'signer' });
  const two = await write({ as: 'signer', component: 'signer' });
  const theirs = {
    as: 'approver',
    component: 'approver',
    name: one.name,
    verb: 'replace',
  } as const;
  assert.match((await write(theirs)).stderr, /may not write Lease/);
  const gone = (name: string, as: string | undefined): ReturnType<Cluster['kubectl']> =>
    cluster.kubectl(['delete', 'lease', name, '-n', NAMESPACE, ...account(as)], {
      allowFailure: true,
    });
  assert.match((await gone(one.name, 'approver')).stderr, /may not delete Lease/);
  assert.equal((await gone(one.name, 'signer')).code, 0);
  assert.equal((await gone(two.name, undefined)).code, 0);
});

test('other Leases in that namespace are not restricted', async () => {
  const name = `others-${randomBytes(4).toString('hex')}`;
  made.push(name);
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: NAMESPACE },
    spec: { holderIdentity: 'x', leaseDurationSeconds: 15 },
  };
  await cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(lease) });
});
