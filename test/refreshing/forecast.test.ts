// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forecast } from '../../src/refreshing/forecast.ts';
import { leafAt, START, workloadOf, World } from './world.ts';

const HOUR = 3_600_000;
const TIMES = { debounceMs: 0, window: undefined };
const LIMITS = {
  ...{ concurrent: 1, concurrentInNamespace: 1, perMinute: 1, perMinuteInNamespace: 1 },
  rolloutTimeoutMs: 600_000,
};

test('who is outdated is told so in the order of their turns, nobody is restarted, and pods are listed once', async () => {
  const world = new World();
  for (const name of ['a', 'b', 'c', 'd']) {
    world.add(workloadOf({ namespace: 'team-a', name, secrets: ['tls'], wish: 'secrets' }));
  }
  // Its pods have started since.
  const fresh = workloadOf({ namespace: 'team-a', name: 'e', secrets: ['tls'], wish: 'secrets' });
  world.add(fresh, START + 2 * HOUR);
  world.leaves.set('team-a/tls', leafAt('two', START + HOUR));
  world.advance(3 * HOUR);
  const lists = new Map<string, number>();
  const { now, budgetsOf } = world;
  const verdicts = await forecast(world.standings(TIMES), LIMITS, {
    now,
    budgetsOf,
    podsOf: (standing) => {
      lists.set(standing.key, (lists.get(standing.key) ?? 0) + 1);
      return world.podsOf(standing);
    },
  });
  assert.deepEqual(
    [...verdicts].map(([key, { kind }]) => `${key} ${kind}`),
    [
      'Deployment/team-a/a restarted',
      'Deployment/team-a/b waiting',
      'Deployment/team-a/c waiting',
      'Deployment/team-a/d waiting',
      'Deployment/team-a/e current',
    ],
  );
  assert.deepEqual([...lists.values()], [1, 1, 1, 1, 1]);
  assert.equal(world.restarts.size, 0);
});

test('a workload that waits for its time, and needs no restart then, is current', async () => {
  const world = new World();
  const workload = workloadOf({ namespace: 'n', name: 'a', secrets: ['tls'], wish: 'secrets' });
  world.add(workload, START + 2 * HOUR);
  world.leaves.set('n/tls', leafAt('two', START + HOUR));
  world.advance(3 * HOUR);
  const later = { debounceMs: 24 * HOUR, window: undefined };
  const verdicts = await forecast(world.standings(later), LIMITS, world);
  assert.deepEqual([...verdicts.values()], [{ kind: 'current' }]);
});
