// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/object/pod.ts';
import type { DisruptionBudget } from '#api/workload/disruption-budget.ts';
import { optInOf } from '#workloads/refresh/opt-in.ts';
import { Refresher } from '#workloads/refresh/refresher.ts';
import type { RestartVerdict } from '#workloads/refresh/verdict.ts';
import { leafAt, podOf, START, workloadOf, World } from './world.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const WEB = 'Deployment/team-a/web';
const LIMITS = {
  concurrent: 10,
  concurrentInNamespace: 2,
  perMinute: 60,
  perMinuteInNamespace: 6,
  rolloutTimeoutMs: 600_000,
};

/** Three pods of a workload that has them evicted; each replacement is ready after a minute. */
function stage(skew = 0): {
  readonly world: World;
  readonly pods: Map<string, Pod>;
  readonly evicted: string[];
  readonly pass: () => Promise<RestartVerdict | undefined>;
} {
  const world = new World();
  const base = workloadOf({ namespace: 'team-a', name: 'web', secrets: ['tls'], replicas: 3 });
  const annotations = {
    'countersign.dev/refresh': 'secrets',
    'countersign.dev/refresh-by': 'eviction',
  };
  world.add({ ...base, metadata: { ...base.metadata, annotations } });
  const ready = (pod: Pod, isReady: boolean): Pod => {
    const status = isReady ? 'True' : 'False';
    return { ...pod, status: { ...pod.status, conditions: [{ type: 'Ready', status }] } };
  };
  const podAt = (name: string, time: number): Pod => podOf(name, time, { app: 'web' });
  const pods = new Map(['a', 'b', 'c'].map((each) => [each, ready(podAt(each, START), true)]));
  world.time = START + HOUR;
  world.leaves.set('team-a/tls', leafAt('new', world.time));
  world.time += 10 * MINUTE;
  const evicted: string[] = [];
  const restart = (): never => assert.fail('the template stays as it is');
  const evict = (_standing: unknown, { metadata: { name } }: Pod): Promise<'begun'> => {
    evicted.push(name);
    pods.delete(name);
    pods.set(`${name}+`, ready(podAt(`${name}+`, world.time + skew), false));
    return Promise.resolve('begun');
  };
  const refresher = new Refresher(LIMITS);
  const podsOf = (): Promise<readonly Pod[]> => Promise.resolve([...pods.values()]);
  const pass = async (): Promise<RestartVerdict | undefined> => {
    const deps = world.with({ restart, evict, podsOf });
    const times = { debounceMs: 30_000, window: undefined };
    const verdicts = await refresher.pass(world.states(times), deps);
    for (const [name, pod] of pods) {
      if (world.time - Date.parse(pod.metadata.creationTimestamp) - skew >= MINUTE)
        pods.set(name, ready(pod, true));
    }
    return verdicts.get(WEB);
  };
  return { world, pods, evicted, pass };
}

test('pods are evicted one by one, each once its replacement is ready', async () => {
  const { world, pods, evicted, pass } = stage();
  assert.equal((await pass())?.kind, 'restarted');
  assert.deepEqual(evicted, ['a']);
  assert.deepEqual(await pass(), { kind: 'waiting', reason: 'RolloutInProgress' });
  for (let at = 0; at < 20; at += 1) {
    world.time += 30_000;
    await pass();
    const isReady = ({ status }: Pod): boolean => status?.conditions?.[0]?.status === 'True';
    assert.ok([...pods.values()].filter(isReady).length >= 2, 'one of three is away at most');
  }
  assert.deepEqual(evicted, ['a', 'b', 'c']);
  assert.equal((await pass())?.kind, 'current');
});

test('a replacement is never evicted for the same certificate, whatever its clock', async () => {
  const { world, evicted, pass } = stage(-2 * HOUR);
  for (let at = 0; at < 200; at += 1) {
    await pass();
    world.time += 30_000;
  }
  assert.deepEqual(evicted, ['a', 'b', 'c']);
  world.leaves.set('team-a/tls', leafAt('newer', world.time));
  for (let at = 0; at < 200; at += 1) {
    world.time += 30_000;
    await pass();
  }
  assert.deepEqual(evicted, ['a', 'b', 'c', 'a+', 'b+', 'c+'], 'the next certificate counts anew');
});

test('a budget that allows no disruption is not overrun by an eviction', async () => {
  const { world, evicted, pass } = stage();
  const budget: DisruptionBudget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { ...podOf('web', START).metadata, name: 'budget', generation: 1 },
    spec: { selector: { matchLabels: { app: 'web' } } },
    status: { disruptionsAllowed: 0, observedGeneration: 1 },
  };
  world.budgets.set('team-a', [budget]);
  assert.deepEqual(await pass(), { kind: 'blocked', budget: 'budget', isOverdue: false });
  assert.deepEqual(evicted, []);
});

test('a way of restarts other than rollout or eviction is invalid, and none is rollout', () => {
  const wayOf = (annotations: Record<string, string>): unknown => {
    const found = optInOf({
      metadata: { annotations: { 'countersign.dev/refresh': 'secrets', ...annotations } },
    });
    return found.kind === 'in' ? found.way : found.kind;
  };
  assert.equal(wayOf({}), 'rollout');
  assert.equal(wayOf({ 'countersign.dev/refresh-by': 'rollout' }), 'rollout');
  assert.equal(wayOf({ 'countersign.dev/refresh-by': 'eviction' }), 'eviction');
  assert.equal(wayOf({ 'countersign.dev/refresh-by': 'delete' }), 'invalid');
});

test('an older pod that is not ready is evicted before those that are', async () => {
  const { pods, evicted, pass } = stage();
  const idle = pods.get('c');
  assert.ok(idle !== undefined);
  const conditions = [{ type: 'Ready', status: 'False' as const }];
  pods.set('c', { ...idle, status: { ...idle.status, conditions } });
  await pass();
  assert.deepEqual(evicted, ['c']);
});
