// SPDX-License-Identifier: Apache-2.0
/**
 * Many workloads of many namespaces on a simulated clock, and many Secrets changed at once.
 * `REFRESH=long` takes 5,000 workloads in 50 namespaces and 2,000 Secrets; without it, a tenth.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Refresher } from '#workloads/refresh/refresher.ts';
import type { RestartLimits } from '#workloads/refresh/restart-slots.ts';
import { leafAt, START, workloadOf, World } from './world.ts';

const SCALE = process.env['REFRESH'] === 'long' ? 1 : 0.1;
const WORKLOADS = 5_000 * SCALE;
const SECRETS = 2_000 * SCALE;
const NAMESPACES = 50 * SCALE;
const KINDS = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;
const LIMITS: RestartLimits = {
  concurrent: 40,
  concurrentInNamespace: 2,
  perMinute: 120,
  perMinuteInNamespace: 6,
  rolloutTimeoutMs: 10 * 60_000,
};
const TIMES = { debounceMs: 30_000, window: undefined };
const STEP_MS = 5_000;
/** Six hours of the simulated clock: far more than the limits take. */
const MAX_STEPS = 4_320;

/**
 * Which Secrets of its namespace a workload uses: one in three uses two, one in ten a Secret that
 * nobody changes.
 */
function secretsOf(index: number): readonly string[] {
  const inNamespace = SECRETS / NAMESPACES;
  const first = Math.floor(index / NAMESPACES) % inNamespace;
  if (index % 10 === 0) return ['untouched'];
  return index % 3 === 0
    ? [`tls-${first}`, `tls-${(first + 1) % inNamespace}`, 'untouched']
    : [`tls-${first}`];
}

function populated(): { readonly world: World; readonly expected: ReadonlySet<string> } {
  const world = new World((key) => 10_000 + ((key.length * 7919 + key.charCodeAt(20)) % 80_000));
  const expected = new Set<string>();
  for (let index = 0; index < WORKLOADS; index += 1) {
    const secrets = secretsOf(index);
    // One in five has not opted in.
    const mode = index % 5 === 4 ? undefined : 'secrets';
    const workload = workloadOf({
      namespace: `team-${index % NAMESPACES}`,
      name: `web-${index}`,
      kind: KINDS[index % 3] ?? 'Deployment',
      secrets,
      ...(mode === undefined ? {} : { mode }),
    });
    world.add(workload, START + 3_600_000);
    const isChanged = secrets.some((each) => each !== 'untouched');
    if (mode !== undefined && isChanged)
      expected.add(`${workload.kind}/team-${index % NAMESPACES}/web-${index}`);
  }
  for (let namespace = 0; namespace < NAMESPACES; namespace += 1) {
    world.leaves.set(`team-${namespace}/untouched`, leafAt('untouched', START));
    for (let secret = 0; secret < SECRETS / NAMESPACES; secret += 1) {
      world.leaves.set(`team-${namespace}/tls-${secret}`, leafAt(`old-${secret}`, START));
    }
  }
  world.time = START + 24 * 3_600_000;
  return { world, expected };
}

function changeAll(world: World): void {
  for (const [key] of world.leaves) {
    if (key.endsWith('/untouched')) continue;
    world.leaves.set(key, leafAt(`new-${key}`, world.time));
  }
}

/**
 * Passes until nothing is left to do; the process is killed and started again after each of `kills`
 * steps.
 */
async function run(world: World, kills: ReadonlySet<number>): Promise<number> {
  let refresher = new Refresher(LIMITS);
  for (let step = 0; step < MAX_STEPS; step += 1) {
    if (kills.has(step)) refresher = new Refresher(LIMITS);
    const verdicts = await refresher.pass(world.states(TIMES), world);
    requireWithinLimits(world);
    const isDone = [...verdicts.values()].every(({ kind }) => kind === 'current');
    if (isDone && world.running().size === 0) return step;
    world.advance(STEP_MS);
  }
  assert.fail('work is left after six hours');
}

function requireWithinLimits(world: World): void {
  const running = [...world.running().values()];
  assert.ok(Math.max(0, ...running) <= LIMITS.concurrentInNamespace, 'too many in one namespace');
  assert.ok(running.reduce((sum, each) => sum + each, 0) <= LIMITS.concurrent, 'too many at once');
}

function requireOnceEach(world: World, expected: ReadonlySet<string>): void {
  assert.deepEqual([...world.restarts.keys()].sort(), [...expected].sort());
  assert.ok([...world.restarts.values()].every((count) => count === 1));
}

describe(`${WORKLOADS} workloads, ${NAMESPACES} namespaces, ${SECRETS} Secrets changed at once`, () => {
  test('restarts each user that opted in exactly once, within the limits at a time', async () => {
    const { world, expected } = populated();
    assert.equal(await run(world, new Set()), 0, 'restarted before anything changed');
    assert.equal(world.restarts.size, 0);
    changeAll(world);
    await run(world, new Set());
    requireOnceEach(world, expected);
  });

  test('the same when the process is killed again and again in the middle', async () => {
    const { world, expected } = populated();
    changeAll(world);
    await run(world, new Set(Array.from({ length: 500 }, (_, index) => 7 + index * 3)));
    requireOnceEach(world, expected);
  });

  test('a process that is started when all is done restarts no workload', async () => {
    const { world } = populated();
    changeAll(world);
    await run(world, new Set());
    const before = world.restarts.size;
    world.advance(3_600_000);
    assert.equal(await run(world, new Set([0])), 0);
    assert.equal(world.restarts.size, before);
  });

  test('a restored etcd, a day old, restarts no workload', async () => {
    const { world } = populated();
    const [workloads, leaves] = [new Map(world.workloads), new Map(world.leaves)];
    changeAll(world);
    await run(world, new Set());
    const restored = new World();
    for (const workload of workloads.values()) restored.add(workload, START + 3_600_000);
    for (const [key, leaf] of leaves) restored.leaves.set(key, leaf);
    restored.time = world.time;
    assert.equal(await run(restored, new Set()), 0);
    assert.equal(restored.restarts.size, 0);
  });
});
