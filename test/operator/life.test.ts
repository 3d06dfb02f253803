// SPDX-License-Identifier: Apache-2.0
/** The life of one installation by the operator, on a real API server. The tests follow each other. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../cluster/until.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import { apply } from '../support/cluster/apply.ts';
import { judge } from '../../src/reconciling/objects/judge.ts';
import { titleOf, type ManagedObject } from '../../src/reconciling/objects/managed-object.ts';
import { marked } from '../../src/reconciling/objects/mark.ts';
import { EXAMPLE, WAIT_MS, desiredOf, startStand, type Stand } from './stand.ts';

let stand: Stand;
let operator: ComponentProcess;
before(async () => {
  stand = await startStand();
  operator = await stand.start();
});
after(() => stand.close());

const DESIRED = desiredOf(EXAMPLE.spec);

/** What of the installation is not as it is desired. */
async function differences(
  objects: readonly ManagedObject[] = DESIRED,
): Promise<readonly string[]> {
  const owner = await ownerOf();
  const found = await Promise.all(
    objects.map(async (object) => {
      const wanted = marked(object, owner);
      const { action, paths, problem } = judge(wanted, await stand.admin.read(wanted));
      if (action === 'leave' && problem === undefined) return [];
      return [`${action} ${titleOf(wanted)} ${paths.join(' ')} ${problem ?? ''}`.trim()];
    }),
  );
  return found.flat();
}

async function ownerOf(): Promise<Parameters<typeof marked>[1]> {
  const object = await stand.countersign();
  const { apiVersion, kind, metadata } = object ?? EXAMPLE;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, label: 'countersign' };
}

/** Waits until everything is as it is desired. */
function healed(objects = DESIRED): Promise<unknown> {
  return until('everything is as desired', WAIT_MS, async () => {
    const left = await differences(objects);
    if (left.length === 0) return true;
    throw new Error(left.join('\n'));
  });
}

test('a second Countersign is refused by its schema', async () => {
  await assert.rejects(
    apply(stand.cluster, { ...EXAMPLE, metadata: { name: 'second' } }),
    /there is one Countersign in a cluster; name it cluster/,
  );
});

test('whoever lacks sign or attest for every signer name may not write a Countersign', async () => {
  await apply(
    stand.cluster,
    ...[{ verbs: ['*'], apiGroups: ['operator.countersign.dev'], resources: ['countersigns'] }].map(
      (rule) => ({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'editor' },
        rules: [
          rule,
          {
            verbs: ['sign'],
            apiGroups: ['certificates.k8s.io'],
            resources: ['signers'],
            resourceNames: ['*'],
          },
        ],
      }),
    ),
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'editor' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'editor' },
      subjects: [{ kind: 'User', name: 'eve', apiGroup: 'rbac.authorization.k8s.io' }],
    },
  );
  await until('the policy is in force', WAIT_MS, async () => {
    const { code, stderr } = await stand.cluster.kubectl(
      ['create', '--as=eve', '--dry-run=server', '-f', '-'],
      { input: JSON.stringify(EXAMPLE), allowFailure: true },
    );
    return code !== 0 && /eve may not attest for every signer name/.test(stderr);
  });
});

test('one object installs everything on an empty cluster, in a version that the status names', async (t) => {
  const began = performance.now();
  await stand.install();
  await stand.condition('Available', 'True');
  await stand.condition('Progressing', 'False');
  await stand.condition('Degraded', 'False');
  await stand.condition('Upgradeable', 'True');
  t.diagnostic(`${DESIRED.length} objects in ${Math.round(performance.now() - began)} ms`);
  assert.deepEqual(await differences(), []);
  const { status } = (await stand.countersign()) ?? {};
  assert.equal(status?.version, '0.1.0');
  assert.equal(status.desiredVersion, '0.1.0');
});

test('a second pass, by a process that knows nothing of the first, writes nothing', async () => {
  await operator.stop();
  const before_ = (await stand.writes()).length;
  operator = await stand.start();
  // One object is missing: once it is back, all before it and the ones behind it were compared.
  const [gone] = DESIRED.filter(({ kind }) => kind === 'PodDisruptionBudget');
  assert.ok(gone);
  const live = await stand.admin.read(gone);
  assert.ok(live);
  await stand.admin.remove(live);
  await healed();
  await operator.ready();
  const written = (await stand.writes()).slice(before_);
  assert.deepEqual(written, [
    `patch poddisruptionbudgets ${gone.metadata.namespace ?? ''}/${gone.metadata.name}`,
  ]);
});
