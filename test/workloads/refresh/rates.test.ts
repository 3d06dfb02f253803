// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RESTARTED_AT, formatRestartedAt } from '#workloads/refresh/record.ts';
import { Refresher } from '#workloads/refresh/refresher.ts';
import type { RestartVerdict } from '#workloads/refresh/verdict.ts';
import { leafAt, START, workloadOf, World } from './world.ts';

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
