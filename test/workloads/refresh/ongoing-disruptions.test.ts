// SPDX-License-Identifier: Apache-2.0
/** One PodDisruptionBudget over the pods of several workloads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/object/pod.ts';
import type { WorkloadKind } from '#api/workload/workload.ts';
import { Refresher } from '#workloads/refresh/refresher.ts';
import type { RestartVerdict } from '#workloads/refresh/verdict.ts';
import { leafAt, START, workloadOf, World } from './world.ts';

const LIMITS = {
  concurrent: 10,
  concurrentInNamespace: 5,
  perMinute: 60,
  perMinuteInNamespace: 60,
  rolloutTimeoutMs: 600_000,
};
const HOUR = 3_600_000;
const TIMES = { debounceMs: 30_000, window: undefined };

interface Member {
  readonly name: string;
  readonly kind?: WorkloadKind;
  readonly quorum?: string;
  readonly way?: string;
}

/**
 * Members of a quorum that use one changed Secret. Its budget always shows one allowed disruption,
 * as between two pods of a rollout.
 */
function quorum(members: readonly Member[], duration?: (key: string) => number): World {
  const world = new World(duration);
  for (const { name, kind = 'StatefulSet', quorum: label = 'db', way = 'rollout' } of members) {
    const base = workloadOf({
      namespace: 'team-a',
      name,
      kind,
      replicas: 1,
      secrets: ['tls'],
      labels: { quorum: label },
    });
    const annotations = {
      'countersign.dev/refresh': 'secrets',
      'countersign.dev/refresh-by': way,
    };
    world.add({ ...base, metadata: { ...base.metadata, annotations } });
  }
  const { metadata } = workloadOf({ namespace: 'team-a', name: 'db', secrets: [] });
  world.budgets.set('team-a', [
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: { selector: { matchLabels: { quorum: 'db' } } },
      status: { disruptionsAllowed: 1, observedGeneration: 1 },
    },
  ]);
  world.time = START + HOUR;
  world.leaves.set('team-a/tls', leafAt('new', world.time));
  world.advance(60_000);
  return world;
}

function restarted(verdicts: ReadonlyMap<string, RestartVerdict>): readonly string[] {
  return [...verdicts].filter(([, { kind }]) => kind === 'restarted').map(([key]) => key);
}

/** Pods are ready, so that an eviction may take one. */
function deps(world: World): ReturnType<World['with']> {
  const ready = { conditions: [{ type: 'Ready', status: 'True' as const }] };
  const podsOf = async (state: Parameters<World['podsOf']>[0]): Promise<readonly Pod[]> =>
    (await world.podsOf(state)).map((pod) => ({ ...pod, status: { ...pod.status, ...ready } }));
  return world.with({ podsOf });
}

test('workloads that share a budget are restarted one after the other', async () => {
  const world = quorum([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
  const refresher = new Refresher(LIMITS);
  const begun: string[][] = [];
  for (let step = 0; step < 30; step += 1) {
    const verdicts = await refresher.pass(world.states(TIMES), world);
    assert.ok((world.running().get('team-a') ?? 0) <= 1, 'two at once');
    if (step === 0) {
      assert.deepEqual(verdicts.get('StatefulSet/team-a/b'), {
        kind: 'waiting',
        reason: 'RolloutInProgress',
      });
    }
    begun.push([...restarted(verdicts)]);
    world.advance(5_000);
  }
  assert.deepEqual(
    begun.flat(),
    ['a', 'b', 'c'].map((name) => `StatefulSet/team-a/${name}`),
  );
});

test('a workload whose pods the budget does not select waits for none', async () => {
  const world = quorum([{ name: 'a' }, { name: 'b', quorum: 'other' }, { name: 'c' }]);
  assert.deepEqual(restarted(await new Refresher(LIMITS).pass(world.states(TIMES), world)), [
    'StatefulSet/team-a/a',
    'StatefulSet/team-a/b',
  ]);
});

test('a rollout that keeps its pods available shares no budget', async () => {
  const world = quorum([{ name: 'a', kind: 'Deployment' }, { name: 'b' }]);
  assert.equal(restarted(await new Refresher(LIMITS).pass(world.states(TIMES), world)).length, 2);
});

test('an eviction waits for a rollout under its budget, and a rollout for evictions', async () => {
  for (const [first, second] of [
    ['rollout', 'eviction'],
    ['eviction', 'rollout'],
  ] as const) {
    const world = quorum([
      { name: 'a', way: first },
      { name: 'b', way: second },
    ]);
    const refresher = new Refresher(LIMITS);
    const pass = async (): Promise<readonly string[]> =>
      restarted(await refresher.pass(world.states(TIMES), deps(world)));
    assert.deepEqual(await pass(), ['StatefulSet/team-a/a'], first);
    world.advance(1_000);
    assert.deepEqual(await pass(), [], first);
    world.advance(60_000);
    assert.deepEqual(await pass(), ['StatefulSet/team-a/b'], second);
  }
});

test('evictions wait for no eviction, since the API server counts them', async () => {
  const world = quorum([
    { name: 'a', way: 'eviction' },
    { name: 'b', way: 'eviction' },
  ]);
  const verdicts = await new Refresher(LIMITS).pass(world.states(TIMES), deps(world));
  assert.equal(restarted(verdicts).length, 2);
});

/** The budget allows a disruption although a pod of `sick`, which has no rollout, is not ready. */
function withSick(): World {
  const world = quorum([{ name: 'sick' }, { name: 'b' }]);
  const key = 'StatefulSet/team-a/sick';
  const { status, spec, ...rest } = world.workloads.get(key) ?? assert.fail();
  world.workloads.set(key, {
    ...rest,
    spec: { ...spec, replicas: 3, template: { ...spec.template, spec: { containers: [] } } },
    status: { ...status, replicas: 3, updatedReplicas: 3, readyReplicas: 2, availableReplicas: 2 },
  });
  return world;
}

test('an unready workload delays others under its budget until their deadline', async () => {
  const world = withSick();
  const refresher = new Refresher(LIMITS);
  const pass = async (): Promise<RestartVerdict | undefined> =>
    (await refresher.pass(world.states(TIMES), world)).get('StatefulSet/team-a/b');
  const waiting = { kind: 'waiting', reason: 'RolloutInProgress' };
  assert.deepEqual(await pass(), waiting);
  // A third of the 30 days for which the previous certificate is valid.
  const deadline = START + HOUR + 10 * 24 * HOUR;
  world.time = deadline - 1;
  assert.deepEqual(await pass(), waiting);
  world.time = deadline;
  assert.deepEqual(await pass(), { kind: 'restarted' });
});

test('past their deadlines, workloads that share a budget still take turns', async () => {
  const world = quorum([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
  world.time += 20 * 24 * HOUR;
  const refresher = new Refresher(LIMITS);
  const begun: string[] = [];
  for (let step = 0; step < 30; step += 1) {
    begun.push(...restarted(await refresher.pass(world.states(TIMES), world)));
    assert.ok((world.running().get('team-a') ?? 0) <= 1, 'two at once');
    world.advance(5_000);
  }
  assert.equal(begun.length, 3);
});

test('a rollout that never ends delays overdue others for the rollout timeout', async () => {
  const world = quorum([{ name: 'a' }, { name: 'b' }], () => Infinity);
  world.time += 20 * 24 * HOUR;
  const refresher = new Refresher(LIMITS);
  const pass = async (): Promise<readonly string[]> =>
    restarted(await refresher.pass(world.states(TIMES), world));
  assert.deepEqual(await pass(), ['StatefulSet/team-a/a']);
  world.advance(LIMITS.rolloutTimeoutMs - 1);
  assert.deepEqual(await pass(), []);
  world.advance(1);
  assert.deepEqual(await pass(), ['StatefulSet/team-a/b']);
});

test('a restart by the process before delays overdue others under its budget', async () => {
  const world = quorum([{ name: 'a' }, { name: 'b' }], () => Infinity);
  world.time += 20 * 24 * HOUR;
  await new Refresher(LIMITS).pass(world.states(TIMES), world);
  world.advance(1_000);
  assert.deepEqual(restarted(await new Refresher(LIMITS).pass(world.states(TIMES), world)), []);
});
