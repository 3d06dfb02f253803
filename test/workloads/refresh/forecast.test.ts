// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forecast } from '#workloads/refresh/forecast.ts';
import { leafAt, START, workloadOf, World } from './world.ts';

const HOUR = 3_600_000;
const TIMES = { debounceMs: 0, window: undefined };
const LIMITS = {
  concurrent: 1,
  concurrentInNamespace: 1,
  perMinute: 1,
  perMinuteInNamespace: 1,
  rolloutTimeoutMs: 600_000,
};

test('lists outdated workloads in order of restart, with no restart and one pod list', async () => {
  const world = new World();
  for (const name of ['a', 'b', 'c', 'd']) {
    world.add(workloadOf({ namespace: 'team-a', name, secrets: ['tls'], mode: 'secrets' }));
  }
  // Its pods have started since.
  const fresh = workloadOf({ namespace: 'team-a', name: 'e', secrets: ['tls'], mode: 'secrets' });
  world.add(fresh, START + 2 * HOUR);
  world.leaves.set('team-a/tls', leafAt('two', START + HOUR));
  world.advance(3 * HOUR);
  const lists = new Map<string, number>();
  const { now, budgetsOf } = world;
  const forecasts = await forecast(world.states(TIMES), LIMITS, {
    now,
    budgetsOf,
    podsOf: (state) => {
      lists.set(state.key, (lists.get(state.key) ?? 0) + 1);
      return world.podsOf(state);
    },
  });
  assert.deepEqual(
    forecasts.map(({ state, verdict }) => `${state.key} ${verdict.kind}`),
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
  const workload = workloadOf({ namespace: 'n', name: 'a', secrets: ['tls'], mode: 'secrets' });
  world.add(workload, START + 2 * HOUR);
  world.leaves.set('n/tls', leafAt('two', START + HOUR));
  world.advance(3 * HOUR);
  const later = { debounceMs: 24 * HOUR, window: undefined };
  const forecasts = await forecast(world.states(later), LIMITS, world);
  assert.deepEqual(
    forecasts.map(({ verdict }) => verdict),
    [{ kind: 'current' }],
  );
});
