// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DisruptionBudget } from '#api/workload/disruption-budget.ts';
import type { Workload } from '#api/workload/workload.ts';
import { optInOf } from '#workloads/refresh/opt-in.ts';
import { Refresher, type RefresherDeps } from '#workloads/refresh/refresher.ts';
import type { DueTimes } from '#workloads/refresh/restart-state.ts';
import type { RestartVerdict } from '#workloads/refresh/verdict.ts';
import { parseWindow } from '#workloads/refresh/window.ts';
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
const TIMES: DueTimes = { debounceMs: 30_000, window: undefined };
const WEB = 'Deployment/team-a/web';

/** A world with `web`, whose pods are an hour old, and whose Secret `tls` changed just now. */
function changedWorld(more: Partial<Parameters<typeof workloadOf>[0]> = {}): World {
  const world = new World();
  world.add(
    workloadOf({ namespace: 'team-a', name: 'web', secrets: ['tls'], mode: 'secrets', ...more }),
  );
  world.time = START + HOUR;
  world.leaves.set('team-a/tls', leafAt('new', world.time));
  return world;
}

async function pass(
  world: World,
  refresher = new Refresher(LIMITS),
  times = TIMES,
): Promise<ReadonlyMap<string, RestartVerdict>> {
  return refresher.pass(world.states(times), world);
}

function change(world: World, to: (workload: Workload) => Workload, key = WEB): void {
  const workload = world.workloads.get(key);
  assert.ok(workload !== undefined);
  world.workloads.set(key, to(workload));
}

function annotate(world: World, annotations: Record<string, string>): void {
  change(world, (each) => ({
    ...each,
    metadata: { ...each.metadata, annotations: { ...each.metadata.annotations, ...annotations } },
  }));
}

test('a workload that did not opt in, said off, or something else, is left alone', async () => {
  for (const mode of [undefined, 'off', 'true']) {
    const world = changedWorld();
    change(world, (each) => ({
      ...each,
      metadata: {
        ...each.metadata,
        annotations: mode === undefined ? {} : { 'countersign.dev/refresh': mode },
      },
    }));
    world.advance(HOUR);
    assert.equal((await pass(world)).size, 0);
  }
  const typo = workloadOf({ namespace: 'team-a', name: 'web', secrets: [], mode: 'true' });
  assert.equal(optInOf(typo).kind, 'invalid');
});

test('a Secret that is not used, or not cert-manager’s, restarts nobody', async () => {
  const world = changedWorld({ secrets: ['other'] });
  world.advance(HOUR);
  assert.deepEqual((await pass(world)).get(WEB), { kind: 'current' });
});

test('several certificates that change one after the other make one rollout', async () => {
  const world = changedWorld({ secrets: ['tls', 'api'] });
  const refresher = new Refresher(LIMITS);
  world.advance(20_000);
  world.leaves.set('team-a/api', leafAt('api', world.time));
  world.advance(20_000);
  assert.deepEqual((await pass(world, refresher)).get(WEB), {
    kind: 'waiting',
    reason: 'NotDue',
    until: world.time + 10_000,
  });
  world.advance(10_000);
  assert.deepEqual((await pass(world, refresher)).get(WEB), { kind: 'restarted' });
  world.advance(HOUR);
  assert.deepEqual((await pass(world, refresher)).get(WEB), { kind: 'current' });
  assert.equal(world.restarts.get(WEB), 1);
});

test('a constantly changing certificate delays a restart by ten debounces at most', async () => {
  const world = changedWorld({ secrets: ['tls', 'api'] });
  const refresher = new Refresher(LIMITS);
  for (let step = 0; step < 29; step += 1) {
    world.advance(10_000);
    world.leaves.set('team-a/api', leafAt(`api-${step}`, world.time));
    assert.equal((await pass(world, refresher)).get(WEB)?.kind, 'waiting');
  }
  world.advance(10_000);
  assert.equal((await pass(world, refresher)).get(WEB)?.kind, 'restarted');
});

test('a change outside the window waits for it', async () => {
  const world = changedWorld();
  annotate(world, { 'countersign.dev/refresh-window': '22:00-23:00' });
  world.advance(HOUR);
  const opens = START + 22 * HOUR;
  assert.deepEqual((await pass(world)).get(WEB), {
    kind: 'waiting',
    reason: 'NotDue',
    until: opens,
  });
  world.time = opens;
  assert.equal((await pass(world)).get(WEB)?.kind, 'restarted');
});

test('no window ends later than a third of the previous certificate’s validity left', async () => {
  const world = changedWorld();
  const times = { ...TIMES, window: parseWindow('Sun 00:00-01:00') };
  world.leaves.set('team-a/tls', leafAt('new', world.time, { remaining: 3 * DAY }));
  const changed = world.time;
  world.time = changed + DAY - 1;
  assert.deepEqual((await pass(world, new Refresher(LIMITS), times)).get(WEB), {
    kind: 'waiting',
    reason: 'NotDue',
    until: changed + DAY,
  });
  world.time = changed + DAY;
  assert.equal((await pass(world, new Refresher(LIMITS), times)).get(WEB)?.kind, 'restarted');
});

test('waits for any rollout in progress, unless the certificate would expire first', async () => {
  const world = changedWorld();
  world.advance(60_000);
  change(world, (each) => ({ ...each, status: { ...each.status, updatedReplicas: 1 } }));
  const deadline = START + HOUR + 10 * DAY;
  assert.deepEqual((await pass(world)).get(WEB), {
    kind: 'waiting',
    reason: 'RolloutInProgress',
    until: deadline,
  });
  world.time = deadline;
  assert.equal((await pass(world)).get(WEB)?.kind, 'restarted');
});

test('does not restart or reread a pod that started after the certificate’s write', async () => {
  const world = changedWorld();
  world.add(world.workloads.get(WEB) ?? assert.fail(), world.time + 61_000);
  world.advance(HOUR);
  const refresher = new Refresher(LIMITS);
  let looks = 0;
  const counted = world.with({
    podsOf: (each: Parameters<World['podsOf']>[0]) => ((looks += 1), world.podsOf(each)),
  });
  for (let round = 0; round < 3; round += 1) {
    assert.deepEqual((await refresher.pass(world.states(TIMES), counted)).get(WEB), {
      kind: 'current',
    });
  }
  assert.equal(looks, 1);
});

function budget(disruptionsAllowed: number): DisruptionBudget {
  const { metadata } = workloadOf({ namespace: 'team-a', name: 'budget', secrets: [] });
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
    spec: { selector: {} },
    status: { disruptionsAllowed, observedGeneration: 1 },
  };
}

test('respects an exhausted PodDisruptionBudget, unless the rollout removes no pod', async () => {
  for (const [kind, verdict] of [
    ['StatefulSet', 'blocked'],
    ['DaemonSet', 'blocked'],
    ['Deployment', 'restarted'],
  ] as const) {
    const world = changedWorld({ kind });
    world.budgets.set('team-a', [budget(0)]);
    world.advance(HOUR);
    assert.equal((await pass(world)).get(`${kind}/team-a/web`)?.kind, verdict, kind);
    world.budgets.set('team-a', [budget(1)]);
    await pass(world);
    assert.equal(world.restarts.get(`${kind}/team-a/web`), 1, kind);
  }
});

test('a blocked restart is overdue before the previous certificate expires', async () => {
  const world = changedWorld({ kind: 'StatefulSet' });
  world.budgets.set('team-a', [budget(0)]);
  const blocked = async (): Promise<RestartVerdict | undefined> =>
    (await pass(world)).get('StatefulSet/team-a/web');
  world.advance(HOUR);
  assert.deepEqual(await blocked(), { kind: 'blocked', budget: 'budget', isOverdue: false });
  // A third of the 30 days that it was still valid.
  world.advance(10 * DAY);
  assert.deepEqual(await blocked(), { kind: 'blocked', budget: 'budget', isOverdue: true });
  assert.equal(world.restarts.size, 0);
});

test('what the API server refuses is retried ever more slowly, and stops no other', async () => {
  const world = changedWorld();
  world.add(workloadOf({ namespace: 'team-a', name: 'next', secrets: ['tls'], mode: 'secrets' }));
  world.advance(60_000);
  const refresher = new Refresher(LIMITS);
  const tries: number[] = [];
  const refusing = world.with({
    restart: (state: Parameters<World['restart']>[0]) => {
      if (state.key !== WEB) return world.restart(state);
      tries.push(world.time);
      return Promise.resolve({ refused: 'admission webhook "no" denied the request' });
    },
  });
  for (let second = 0; second < 2 * 3600; second += 5) {
    const verdicts = await refresher.pass(world.states(TIMES), refusing);
    assert.equal(verdicts.get(WEB)?.kind, 'refused');
    world.advance(5_000);
  }
  const gaps = tries.slice(1).map((time, index) => (time - (tries[index] ?? 0)) / 60_000);
  assert.deepEqual(gaps, [1, 2, 4, 8, 16, 30, 30]);
  assert.equal(world.restarts.get('Deployment/team-a/next'), 1);
  await refresher.pass(world.states(TIMES), world);
  world.advance(30 * 60_000);
  assert.equal((await refresher.pass(world.states(TIMES), world)).get(WEB)?.kind, 'restarted');
});

test('pods that cannot be listed hold up one workload, not the pass', async () => {
  const world = changedWorld();
  world.add(workloadOf({ namespace: 'team-a', name: 'next', secrets: ['tls'], mode: 'secrets' }));
  world.advance(60_000);
  const failing = world.with({
    podsOf: (state: Parameters<World['podsOf']>[0]) =>
      state.key === WEB ? Promise.reject(new Error('forbidden')) : world.podsOf(state),
  });
  const verdicts = await new Refresher(LIMITS).pass(world.states(TIMES), failing);
  assert.equal(verdicts.get(WEB)?.kind, 'refused');
  assert.equal(verdicts.get('Deployment/team-a/next')?.kind, 'restarted');
});

test('a successful list forgets earlier failures to list the pods', async () => {
  for (const isFresh of [true, false]) {
    const world = changedWorld({ kind: 'StatefulSet' });
    world.budgets.set('team-a', [budget(0)]);
    const refresher = new Refresher(LIMITS);
    const failing = world.with({ podsOf: () => Promise.reject(new Error('timed out')) });
    const verdict = async (deps: RefresherDeps): Promise<RestartVerdict | undefined> =>
      (await refresher.pass(world.states(TIMES), deps)).get('StatefulSet/team-a/web');
    for (let round = 0; round < 5; round += 1) {
      world.leaves.set('team-a/tls', leafAt(`new-${round}`, world.time));
      world.advance(HOUR);
      const until = world.time + 60_000;
      assert.deepEqual(await verdict(failing), { kind: 'refused', message: 'timed out', until });
      world.advance(60_000);
      const pods = [podOf('pod', isFresh ? world.time : START)];
      const found = await verdict(world.with({ podsOf: () => Promise.resolve(pods) }));
      assert.equal(found?.kind, isFresh ? 'current' : 'blocked');
    }
  }
});

test('a record that another writer removes does not make a loop', async () => {
  const world = changedWorld();
  world.advance(60_000);
  const refresher = new Refresher(LIMITS);
  for (let minute = 0; minute < 120; minute += 1) {
    await pass(world, refresher);
    // GitOps puts the template back, which rolls out once more: the new pods have the certificate.
    change(world, ({ spec, ...each }) => ({
      ...each,
      spec: { ...spec, template: { ...spec.template, metadata: {} } },
    }));
    world.advance(60_000);
  }
  assert.equal(world.restarts.get(WEB), 1);
});

test('a workload without pods is not restarted', async () => {
  const world = changedWorld({ replicas: 0 });
  world.advance(HOUR);
  assert.deepEqual((await pass(world)).get(WEB), { kind: 'current' });
});

test('a restart that another writer takes back three times is not repeated', async () => {
  const world = changedWorld();
  const oldPod = podOf('old', START);
  const refresher = new Refresher(LIMITS);
  /** Runs an hour in which another writer takes the annotation away after each restart. */
  const hour = async (): Promise<RestartVerdict | undefined> => {
    let last: RestartVerdict | undefined;
    for (let minute = 0; minute < 60; minute += 1) {
      world.advance(60_000);
      const deps = world.with({ podsOf: () => Promise.resolve([oldPod]) });
      last = (await refresher.pass(world.states(TIMES), deps)).get(WEB);
      change(world, ({ spec, ...rest }) => ({
        ...rest,
        templateWriter: 'argocd-controller',
        spec: { ...spec, template: { ...spec.template, metadata: {} } },
      }));
    }
    return last;
  };
  const verdict = await hour();
  assert.equal(world.restarts.get(WEB), 3);
  assert.ok(verdict?.kind === 'reverted');
  assert.match(verdict.message, /"argocd-controller" took the annotation .* 3 times/);
  await hour();
  assert.equal(world.restarts.get(WEB), 3);
  // The next certificate is tried once.
  world.leaves.set('team-a/tls', leafAt('newer', world.time));
  await hour();
  assert.equal(world.restarts.get(WEB), 4);
});
