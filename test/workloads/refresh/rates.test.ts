// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RESTARTED_AT, formatRestartedAt } from '#workloads/refresh/record.ts';
import { Refresher } from '#workloads/refresh/refresher.ts';
import type { RestartVerdict } from '#workloads/refresh/verdict.ts';
import type { Pod } from '#api/object/pod.ts';
import { leafAt, podOf, START, workloadOf, World } from './world.ts';

const LIMITS = {
  concurrent: 10,
  concurrentInNamespace: 2,
  perMinute: 60,
  perMinuteInNamespace: 6,
  rolloutTimeoutMs: 600_000,
};
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TIMES = { debounceMs: 30_000, window: undefined };

/** By a process that was started just now. */
function pass(world: World): Promise<ReadonlyMap<string, RestartVerdict>> {
  return new Refresher(LIMITS).pass(world.states(TIMES), world);
}

test('the rates hold for what the process before began, by the labels on the workloads', async () => {
  const world = new World(() => 1_000);
  for (let index = 0; index < 20; index += 1) {
    world.add(
      workloadOf({ namespace: 'team-a', name: `web-${index}`, secrets: ['tls'], mode: 'secrets' }),
    );
  }
  world.time = START + HOUR;
  world.leaves.set('team-a/tls', leafAt('new', world.time));
  world.advance(60_000);
  const begun: number[] = [];
  for (let second = 0; second < 600; second += 1) {
    const verdicts = await pass(world);
    for (const { kind } of verdicts.values()) if (kind === 'restarted') begun.push(second);
    world.advance(1_000);
  }
  assert.equal(begun.length, 20);
  for (const second of begun) {
    const within = begun.filter((each) => each >= second && each < second + 60);
    assert.ok(within.length <= LIMITS.perMinuteInNamespace, `${within.length} in a minute`);
  }
});

test('the most urgent is first', async () => {
  const world = new World(() => HOUR);
  for (const [name, days] of [
    ['slow', 60],
    ['urgent', 1],
    ['middle', 20],
  ] as const) {
    world.add(workloadOf({ namespace: 'team-a', name, secrets: [name], mode: 'secrets' }));
    world.leaves.set(`team-a/${name}`, leafAt(name, START + HOUR, { remaining: days * DAY }));
  }
  world.time = START + 2 * HOUR;
  const verdicts = await pass(world);
  assert.equal(verdicts.get('Deployment/team-a/urgent')?.kind, 'restarted');
  assert.equal(verdicts.get('Deployment/team-a/middle')?.kind, 'restarted');
  assert.deepEqual(verdicts.get('Deployment/team-a/slow'), {
    kind: 'waiting',
    reason: 'NamespaceRate',
    until: undefined,
  });
});

test('past their deadlines, the most urgent of a namespace is first', async () => {
  const world = new World();
  const add = (name: string, remaining: number): void => {
    world.add(workloadOf({ namespace: 'team-a', name, secrets: [name], mode: 'secrets' }));
    world.leaves.set(`team-a/${name}`, leafAt(name, START + HOUR, { remaining }));
  };
  const refresher = new Refresher({ ...LIMITS, concurrentInNamespace: 1 });
  world.time = START + 20 * DAY;
  add('first', DAY);
  await refresher.pass(world.states(TIMES), world);
  assert.equal(world.restarts.size, 1, 'the namespace had a turn');
  world.advance(10 * 60_000);
  add('a', 59 * DAY);
  add('z', 21 * DAY);
  const verdicts = await refresher.pass(world.states(TIMES), world);
  assert.equal(verdicts.get('Deployment/team-a/z')?.kind, 'restarted');
});

test('labels that somebody writes in one namespace keep no other from its restarts', async () => {
  for (const ahead of [-1_000, 365 * DAY]) {
    const world = new World(() => HOUR);
    world.time = START + 2 * HOUR;
    const label = { [RESTARTED_AT]: formatRestartedAt(world.time + ahead) };
    for (let index = 0; index < 100; index += 1) {
      const idle = workloadOf({
        namespace: 'loud',
        name: `idle-${index}`,
        secrets: [],
        mode: 'secrets',
      });
      world.add({
        ...idle,
        metadata: { ...idle.metadata, labels: label },
        status: { observedGeneration: 1, replicas: 2, updatedReplicas: 0 },
      });
    }
    world.add(workloadOf({ namespace: 'team-a', name: 'web', secrets: ['tls'], mode: 'secrets' }));
    world.leaves.set('team-a/tls', leafAt('new', START + HOUR));
    const verdicts = await pass(world);
    assert.equal(verdicts.get('Deployment/team-a/web')?.kind, 'restarted', `${ahead}`);
  }
});

/** Two Deployments in each of five namespaces, whose new pods never become available. */
function addStuck(world: World, secrets: readonly string[]): readonly string[] {
  const keys: string[] = [];
  for (let index = 0; index < LIMITS.concurrent; index += 1) {
    const namespace = `stuck-${index % 5}`;
    world.add(workloadOf({ namespace, name: `web-${index}`, secrets, mode: 'secrets' }));
    keys.push(`Deployment/${namespace}/web-${index}`);
  }
  return keys;
}

function addVictim(world: World): void {
  world.add(workloadOf({ namespace: 'victim', name: 'web', secrets: ['tls'], mode: 'secrets' }));
  world.leaves.set('victim/tls', leafAt('new', world.time));
}

/** Writes the label of a restart now onto a rollout that does not end. */
function forgeRestart(world: World, key: string): void {
  const workload = world.workloads.get(key) ?? assert.fail();
  const labels = { [RESTARTED_AT]: formatRestartedAt(world.time) };
  const metadata = { ...workload.metadata, generation: 2, labels };
  world.workloads.set(key, { ...workload, metadata });
}

const VICTIM = 'Deployment/victim/web';

test('a label that a user rewrites holds a slot no longer than a rollout may take', async () => {
  const world = new World();
  const stuck = addStuck(world, []);
  world.time = START + HOUR;
  addVictim(world);
  const refresher = new Refresher(LIMITS);
  const kinds: (string | undefined)[] = [];
  for (let step = 0; step < 3; step += 1) {
    world.advance(LIMITS.rolloutTimeoutMs - 1);
    for (const key of stuck) forgeRestart(world, key);
    kinds.push((await refresher.pass(world.states(TIMES), world)).get(VICTIM)?.kind);
  }
  assert.deepEqual(kinds, ['waiting', 'restarted', 'current']);
});

test('a process that led no more counts the restarts of the one that did', async () => {
  const world = new World();
  const stuck = addStuck(world, []);
  world.time = START + HOUR;
  const refresher = new Refresher(LIMITS);
  await refresher.pass(world.states(TIMES), world);
  addVictim(world);
  world.advance(HOUR);
  refresher.standBy();
  for (const key of stuck) forgeRestart(world, key);
  const verdicts = await refresher.pass(world.states(TIMES), world);
  assert.deepEqual(verdicts.get(VICTIM), { kind: 'waiting', reason: 'Rate', until: undefined });
});

test('namespaces with the most urgent restarts yield to one past its deadline', async () => {
  const world = new World((key) => (key === VICTIM ? 30_000 : Infinity));
  const stuck = addStuck(world, ['tls']);
  world.time = START + HOUR;
  addVictim(world);
  // Old pods stay, so that each certificate is one more reason for a restart.
  const podsOf = ({ key }: Parameters<World['podsOf']>[0]): Promise<readonly Pod[]> =>
    Promise.resolve([podOf(`${key} pod`, START - DAY)]);
  const refresher = new Refresher(LIMITS);
  const deadline = START + HOUR + 10 * DAY;
  for (let hour = 0; hour < 10 * 24 + 5; hour += 1) {
    world.advance(HOUR);
    for (const key of stuck) {
      const [, namespace = ''] = key.split('/');
      world.leaves.set(`${namespace}/tls`, leafAt(`at ${hour}`, START, { remaining: 0 }));
    }
    const verdict = (await refresher.pass(world.states(TIMES), world.with({ podsOf }))).get(VICTIM);
    if (verdict?.kind !== 'waiting') break;
    const isOverdue = world.time >= deadline;
    assert.equal(verdict.reason, 'Rate');
    assert.equal(verdict.isOverdue ?? false, isOverdue);
  }
  assert.equal(world.restarts.get(VICTIM), 1);
});
