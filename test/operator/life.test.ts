// SPDX-License-Identifier: Apache-2.0
/**
 * The life of one installation by the operator, on a real API server. The tests follow each other.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../cluster/until.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import { apply } from '../support/cluster/apply.ts';
import { disturb, isKept } from './drift.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { differences, healed, secondPassWritesNothing } from './healed.ts';
import { plannerOf, type Planner } from './planner.ts';
import { DESIRED, EXAMPLE, EXAMPLE_FILE, WAIT_MS, startStand, type Stand } from './stand.ts';

/** `SEED=7 make test-operator` disturbs other objects. */
const SEED = Number(process.env['SEED'] ?? 1);

let stand: Stand;
let operator: ComponentProcess;
let planner: Planner;
before(async () => {
  stand = await startStand();
  operator = await stand.start();
});
after(() => stand.close());

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

test('while a Countersign is deleted, only the removal of finalizers needs no right', async () => {
  const { cluster } = stand;
  const finalizers = ['example.com/hold'];
  const held = { ...EXAMPLE, metadata: { ...EXAMPLE.metadata, finalizers } };
  await operator.stop();
  await apply(cluster, held);
  await cluster.kubectl(['delete', 'countersigns', 'cluster', '--wait=false']);
  const patched = async (metadata: object): Promise<string> => {
    const patch = JSON.stringify({ metadata });
    const args = ['patch', 'countersigns', 'cluster', '--as=eve', '--type=merge', '-p', patch];
    const { code, stderr } = await cluster.kubectl(args, { allowFailure: true });
    return code === 0 ? 'done' : stderr;
  };
  for (const change of [{ annotations: { a: 'b' } }, { labels: { a: 'b' } }])
    assert.match(await patched(change), /eve may not attest for every signer name/);
  assert.equal(await patched({ finalizers: [] }), 'done');
  await until('it is gone', WAIT_MS, async () => (await stand.countersign()) === undefined);
  operator = await stand.start();
});

test('operator plan prints what would be made, and makes nothing', async () => {
  planner = await plannerOf(stand);
  const { code, stdout } = await planner.plan('--file', EXAMPLE_FILE);
  assert.equal(code, 0, stdout);
  const missing = await differences(stand);
  const made = stdout.match(/^make {4}.*$/gm) ?? [];
  assert.equal(made.length, missing.length);
  assert.match(stdout, /^make {4}Deployment countersign-system\/countersign-signer$/m);
  assert.deepEqual(await differences(stand), missing);
});

test('operator plan exits 2 without anything to plan, and 3 for a rejected spec', async () => {
  assert.equal((await planner.plan()).code, 2);
  const unknown = await planner.planOf({ ...EXAMPLE.spec, version: '9.9.9' });
  assert.equal(unknown.code, 3);
  assert.match(unknown.stdout, /^refused, nothing would change: UnsupportedVersion: /);
});

test('one object installs everything in the version that its status names', async (t) => {
  const began = performance.now();
  await stand.install();
  await stand.condition('Available', 'True');
  await stand.condition('Progressing', 'False');
  await stand.condition('Degraded', 'False');
  await stand.condition('Upgradeable', 'True');
  t.diagnostic(`${DESIRED.length} objects in ${Math.round(performance.now() - began)} ms`);
  assert.deepEqual(await differences(stand), []);
  const { status } = (await stand.countersign()) ?? {};
  assert.equal(status?.version, '0.1.0');
  assert.equal(status.desiredVersion, '0.1.0');
});

test('a second pass, by a process that knows nothing of the first, writes nothing', async () => {
  operator = await secondPassWritesNothing(stand, operator);
});

test('operator plan prints what was changed, deleted or left over, restoring nothing', async () => {
  assert.match((await planner.plan()).stdout, /^0 to change, \d+ as desired\n$/);
  await operator.stop();
  const find = (kind: string): ManagedObject => {
    const found = DESIRED.find((each) => each.kind === kind);
    assert.ok(found);
    return found;
  };
  const [role, gone, deployment] = [find('ClusterRole'), find('Service'), find('Deployment')];
  const binding = find('ClusterRoleBinding');
  await disturb(stand.client, role, 'planned');
  await disturb(stand.client, deployment, 'planned');
  const live = await stand.admin.read(gone);
  assert.ok(live);
  await stand.admin.remove(live);
  await rebind(binding, 'view');
  const before_ = await differences(stand);
  const { code, stdout } = await planner.planOf({
    ...EXAMPLE.spec,
    components: { 'certificate-request': { enabled: false } },
  });
  assert.equal(code, 0);
  // Another writer took our label away: it is still ours.
  assert.match(stdout, new RegExp(`^change {2}${titleOf(role)} `, 'm'));
  assert.doesNotMatch(stdout, /^adopt|WARNING/m);
  assert.match(stdout, new RegExp(`^clean {3}${titleOf(deployment)} `, 'm'));
  assert.match(stdout, new RegExp(`^make {4}${titleOf(gone)}$`, 'm'));
  assert.match(stdout, new RegExp(`^report {2}${titleOf(binding)} binds ClusterRole view`, 'm'));
  assert.match(
    stdout,
    /^remove {2}Deployment countersign-system\/countersign-certificate-request$/m,
  );
  assert.deepEqual(await differences(stand), before_);
  assert.deepEqual(await planner.writes(), []);
  const foreign = await stand.admin.read(binding);
  assert.ok(foreign);
  await stand.admin.remove(foreign);
  operator = await stand.start();
  await healed(stand);
});

/** In place of a binding, one of somebody else's that binds another role. */
async function rebind(
  { apiVersion, kind, metadata, ...rest }: ManagedObject,
  role: string,
): Promise<void> {
  const { name } = metadata;
  await stand.cluster.kubectl(['delete', kind, name]);
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
  const input = JSON.stringify({ ...rest, apiVersion, kind, metadata: { name }, roleRef });
  await stand.cluster.kubectl(['create', '-f', '-'], { input });
}

test('operator plan defaults to the flags of the installed operator', async () => {
  const args = ['-n', 'countersign-system', 'patch', 'deployment', 'countersign-operator'];
  const set = (image: string): Promise<unknown> =>
    stand.cluster.kubectl([
      ...args,
      '--type=json',
      '-p',
      JSON.stringify([
        {
          op: 'replace',
          path: '/spec/template/spec/containers/0/args',
          value: ['operator', `--image=${image}`, '--unknown=flag'],
        },
      ]),
    ]);
  await set('example.com/mirror');
  const pattern = /^change {2}Deployment countersign-system\/countersign-signer .*\/image/m;
  assert.match((await planner.plan()).stdout, pattern);
  assert.match((await planner.plan('--image=countersign')).stdout, /^0 to change/);
  await set('countersign');
  assert.match((await planner.plan()).stdout, /^0 to change/);
  const elsewhere = await planner.plan('--namespace=default');
  assert.match(elsewhere.stderr, /no operator in namespace default .*write --image/);
});

/** All of them in the long form; else every fifth, other ones for each seed. */
function sample(objects: readonly ManagedObject[]): readonly ManagedObject[] {
  if (process.env['OPERATOR'] === 'long') return objects;
  return objects.filter((_, index) => index % 5 === SEED % 5);
}

test('every object, deleted in turn, is made again', async (t) => {
  const began = performance.now();
  // Without their namespaces the operator has no permissions.
  const each = sample(DESIRED.filter(({ kind }) => kind !== 'Namespace'));
  for (const object of each) {
    const before_ = await stand.admin.read(object);
    assert.ok(before_, titleOf(object));
    await stand.admin.remove(before_);
    await until(`${titleOf(object)} is back`, WAIT_MS, async () => {
      const now = await stand.admin.read(object);
      return now !== undefined && now.metadata.uid !== before_.metadata.uid;
    });
  }
  t.diagnostic(`${each.length} in ${Math.round(performance.now() - began)} ms`);
  await healed(stand);
});

test('every object, changed in turn, is healed, and what others may add stays', async (t) => {
  const began = performance.now();
  const each = sample(DESIRED.filter(isKept));
  for (const object of each) {
    await disturb(stand.client, object, 'kept');
    await healed(stand, [object]);
    const live = await stand.admin.read(object);
    assert.equal(live?.metadata.annotations?.['example.com/kept'], 'kept', titleOf(object));
  }
  t.diagnostic(`${each.length} in ${Math.round(performance.now() - began)} ms`);
});

test('a ClusterRole that aggregates the rules of others is made again', async () => {
  const role = DESIRED.find(({ kind }) => kind === 'ClusterRole');
  assert.ok(role);
  const before_ = await stand.admin.read(role);
  await stand.cluster.kubectl([
    'patch',
    'clusterrole',
    role.metadata.name,
    '--type=merge',
    '-p',
    JSON.stringify({ aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }),
  ]);
  await healed(stand);
  const now = await stand.admin.read(role);
  assert.notEqual(now?.metadata.uid, before_?.metadata.uid);
});

test('500 random changes at once end as desired, and no field of others is lost', async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const random = randomOf(SEED);
  const objects = DESIRED.filter(isKept);
  const chosen = Array.from({ length: 500 }, (_, index) => ({
    object: objects[Math.floor(random() * objects.length)] as ManagedObject,
    mark: `random-${index}`,
  }));
  const began = performance.now();
  for (let at = 0; at < chosen.length; at += 25)
    await Promise.all(
      chosen.slice(at, at + 25).map(({ object, mark }) => disturb(stand.client, object, mark)),
    );
  await healed(stand);
  t.diagnostic(`healed ${Math.round(performance.now() - began)} ms after the first`);
  for (const { object, mark } of chosen) {
    const live = await stand.admin.read(object);
    assert.equal(live?.metadata.annotations?.[`example.com/${mark}`], mark, titleOf(object));
  }
});

/** mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
