// SPDX-License-Identifier: Apache-2.0
/**
 * Workloads of one namespace and one signer: each is restarted for its own leaf, and for no other.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DisruptionBudget } from '#api/workload/disruption-budget.ts';
import { parseWindow } from '#workloads/refresh/window.ts';
import {
  authority,
  HOUR,
  IDENTITY,
  LIFE_MS,
  MINUTE,
  OwnWorld,
  SIGNER,
  type OwnWorkload,
} from './own-world.ts';
import { podOf, START } from './world.ts';

const A = authority('CA a');
const B = authority('CA b');

/**
 * Written by hand, injected, and injected into a sidecar; two that read their files again, one that
 * did not opt in.
 */
const RESTARTING: readonly OwnWorkload[] = [
  { name: 'written', mode: 'restart', isWritten: true },
  { name: 'injected', mode: 'restart' },
  { name: 'sidecar', mode: 'restart', reader: 'sidecar' },
];
const READING: readonly OwnWorkload[] = [
  { name: 'reads-again', mode: 'secrets', isWritten: true },
  { name: 'reads-again-injected', mode: 'secrets' },
];
const ALL = [...RESTARTING, ...READING, { name: 'out' }, { name: 'off', mode: 'off' }];
const OPTED_IN = [...RESTARTING, ...READING].map(({ name }) => name);

/** All pods have had their first leaf of CA a for two hours. */
function settled(
  workloads: readonly OwnWorkload[] = ALL,
  limits: ConstructorParameters<typeof OwnWorld>[1] = {},
): OwnWorld {
  const world = new OwnWorld(workloads, limits);
  world.authorities([[A, 'Active']]);
  for (const { name } of workloads) world.startPod(name);
  world.now = START + 2 * HOUR;
  return world;
}

test('restarts each workload exactly when its own leaf changed, and records that leaf', async () => {
  const world = settled();
  await world.pass();
  assert.deepEqual(world.restarts, []);
  const records = new Map<string, string>();
  for (const { name } of ALL) {
    world.now += HOUR;
    records.set(name, world.issue(name));
    const before: number = world.restarts.length;
    await world.pass();
    await world.pass();
    const isRestarting: boolean = RESTARTING.some((each) => each.name === name);
    assert.deepEqual(world.restarts.slice(before), isRestarting ? [name] : [], name);
  }
  for (const { name } of RESTARTING) {
    assert.equal(world.recordOf(name), `pod-certificate/${SIGNER}=${records.get(name) ?? ''}`);
  }
});

test('leaves that all change at once restart each workload once, for its own', async () => {
  const world = settled();
  world.now += HOUR;
  const records = new Map(ALL.map(({ name }) => [name, world.issue(name)]));
  for (let round = 0; round < 3; round += 1) {
    await world.pass();
    world.now += 10 * MINUTE;
  }
  assert.deepEqual([...world.restarts].sort(), RESTARTING.map(({ name }) => name).sort());
  for (const { name } of RESTARTING)
    assert.ok(world.recordOf(name).endsWith(records.get(name) ?? '?'));
});

test('a distrust restarts every opted-in workload with a leaf of the CA, once', async () => {
  const world = settled();
  world.authorities([
    [A, 'Distrusted'],
    [B, 'Active'],
  ]);
  for (let round = 0; round < 30; round += 1) {
    await world.pass();
    world.now += 10 * MINUTE;
  }
  assert.deepEqual([...world.restarts].sort(), [...OPTED_IN].sort());
});

test('a process that has seen no leaf decides by the pod’s start time', async () => {
  const world = settled();
  world.authorities([
    [A, 'Distrusted'],
    [B, 'Active'],
  ]);
  // It was started again after the requests were gone; one pod was replaced since by a drain.
  world.now += HOUR;
  world.startPod('written');
  world.now += HOUR;
  for (let round = 0; round < 6; round += 1) {
    world.startAgain();
    await world.pass();
    world.now += 10 * MINUTE;
  }
  const expected = OPTED_IN.filter((name) => name !== 'written');
  assert.deepEqual([...world.restarts].sort(), expected.sort());
});

test('a distrust respects PodDisruptionBudgets and the restarts allowed per minute', async () => {
  const names = ['a', 'b', 'c'];
  const world = settled(
    names.map((name) => ({ name, kind: 'StatefulSet', mode: 'secrets' })),
    { perMinute: 1 },
  );
  const budget = (disruptionsAllowed: number): DisruptionBudget => ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: podOf('budget', START).metadata,
    spec: { selector: {} },
    status: { disruptionsAllowed, observedGeneration: 1 },
  });
  world.budgets = [budget(0)];
  world.authorities([
    [A, 'Distrusted'],
    [B, 'Active'],
  ]);
  world.now += 10 * MINUTE;
  assert.deepEqual([...new Set(Object.values(await world.pass()))], ['blocked']);
  world.budgets = [budget(1)];
  for (let count = 1; count <= names.length; count += 1) {
    await world.pass();
    assert.equal(world.restarts.length, count);
    world.now += 2 * MINUTE;
  }
  assert.deepEqual([...world.restarts].sort(), names);
});

test('does not restart a workload for a distrusted CA once its pods have another leaf', async () => {
  const world = settled(READING);
  world.authorities([
    [A, 'Retiring'],
    [B, 'Active'],
  ]);
  world.issue('reads-again');
  world.now += HOUR;
  world.authorities([
    [A, 'Distrusted', world.now - HOUR],
    [B, 'Active'],
  ]);
  await world.pass();
  assert.deepEqual(world.restarts, ['reads-again-injected']);
});

test('restarts no workload while its signer has no CA that signs', async () => {
  const world = settled();
  world.authorities([[A, 'Distrusted']]);
  world.now += HOUR;
  assert.equal((await world.pass())['injected'], 'waiting');
  assert.deepEqual(world.restarts, []);
  world.authorities([
    [A, 'Distrusted', world.now - HOUR],
    [B, 'Prepared'],
  ]);
  await world.pass();
  assert.deepEqual(world.restarts, [], 'it is not published for long enough yet');
  world.authorities([
    [A, 'Distrusted', world.now - HOUR],
    [B, 'Active'],
  ]);
  await world.pass();
  assert.deepEqual([...world.restarts].sort(), [...OPTED_IN].sort());
});

test('a distrust waits for the workload’s window, up to a third of the leaf’s lifetime', async () => {
  const world = settled([{ name: 'injected', mode: 'restart' }]);
  // START is a Monday, at midnight.
  world.times = { debounceMs: 0, window: parseWindow('Sun 00:00-01:00') };
  world.authorities([
    [A, 'Distrusted'],
    [B, 'Active'],
  ]);
  const distrusted = world.now;
  world.now += 7 * HOUR;
  assert.equal((await world.pass())['injected'], 'waiting');
  // Its leaf of 24 hours is two hours old.
  world.now = distrusted + 7 * HOUR + 30 * MINUTE;
  await world.pass();
  assert.deepEqual(world.restarts, ['injected']);
});

test('a rotation restarts nothing before a leaf’s renewal, then only that leaf’s users', async () => {
  const world = settled();
  world.authorities([
    [A, 'Active'],
    [B, 'Prepared'],
  ]);
  await world.pass();
  world.now += 10 * MINUTE;
  world.authorities([
    [B, 'Active'],
    [A, 'Retiring'],
  ]);
  for (let round = 0; round < 5; round += 1) {
    await world.pass();
    world.startAgain();
    await world.pass();
    world.now += HOUR;
  }
  assert.deepEqual(world.restarts, []);
  world.issue('injected');
  await world.pass();
  assert.deepEqual(world.restarts, ['injected']);
});

test('reports an unseen leaf, and restarts when none that it read can be valid', async () => {
  const world = settled();
  world.startAgain();
  const verdicts = await world.pass();
  for (const { name } of RESTARTING) assert.equal(verdicts[name], 'unknown', name);
  for (const { name } of READING) assert.equal(verdicts[name], 'current', name);
  // Nobody renews anything that it sees: it is kept from the requests.
  world.now = START + LIFE_MS - 10 * MINUTE;
  await world.pass();
  assert.deepEqual(world.restarts, []);
  world.now += MINUTE;
  await world.pass();
  assert.deepEqual([...world.restarts].sort(), RESTARTING.map(({ name }) => name).sort());
  await world.pass();
  assert.equal(world.restarts.length, RESTARTING.length);
});

test('an outlived leaf makes a restart overdue only after a third of its last minutes', () => {
  const world = settled([{ name: 'written', mode: 'restart', isWritten: true }]);
  world.startAgain();
  world.now = START + LIFE_MS;
  const [{ own } = assert.fail()] = world.view.states(world.times).states;
  const state = own?.with(own.find([...world.pods.values()]));
  assert.equal(state?.changes[0]?.cause, 'Outlived');
  // The container started a second later. A kubelet renews ten minutes before notAfter or earlier
  // (Kubernetes, ValidatePodCertificateRequestStatusUpdate).
  const outlived = START + 1_000 + LIFE_MS - 10 * MINUTE;
  assert.equal(state.deadline, outlived + (10 * MINUTE) / 3);
});

test('restarts a pod that reads a distrusted CA’s anchors once, not one that rereads', async () => {
  const sources = [{ clusterTrustBundle: { signerName: SIGNER, labelSelector: {} } }];
  const volume = { ...IDENTITY, projected: { sources } };
  const world = new OwnWorld([
    { name: 'verifier', mode: 'restart', volume },
    { name: 'reads-again', mode: 'secrets', volume },
  ]);
  world.authorities([[A, 'Active']]);
  for (const name of ['verifier', 'reads-again']) world.startPod(name);
  world.now += 2 * HOUR;
  await world.pass();
  world.authorities([
    [A, 'Distrusted'],
    [B, 'Active'],
  ]);
  for (let round = 0; round < 6; round += 1) {
    await world.pass();
    world.now += 10 * MINUTE;
  }
  assert.deepEqual(world.restarts, ['verifier']);
});

test('restarts for a leaf that a late replica signs with the distrusted CA', async () => {
  const world = settled([{ name: 'injected', mode: 'secrets' }]);
  world.authorities([
    [A, 'Distrusted'],
    [B, 'Active'],
  ]);
  world.signing = A;
  await world.pass();
  assert.deepEqual(world.restarts, ['injected']);
  world.signing = B;
  world.now += 10 * MINUTE;
  await world.pass();
  world.now += 10 * MINUTE;
  await world.pass();
  assert.deepEqual(world.restarts, ['injected', 'injected']);
});
