// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Confirmation, PlannedAction } from '#console/acting/action.ts';
import { ShownPlans } from '#console/acting/shown-plans.ts';

const PLAN = { verb: 'approve', title: 't', command: 'c', lines: [], isReady: true } as const;
const DONE = { outcome: 'done', lines: ['written'] } as const;

interface Stand {
  readonly plans: ShownPlans;
  readonly end: AbortController;
  readonly pass: (milliseconds: number) => void;
}

function stand(): Stand {
  let now = 0;
  const end = new AbortController();
  const plans = new ShownPlans({
    random: randomBytes,
    monotonic: () => now,
    delay: async (milliseconds) => {
      now += milliseconds;
      await turn();
    },
    signal: end.signal,
    failureText: String,
  });
  return { plans, end, pass: (milliseconds) => (now += milliseconds) };
}

/** An action that counts how often it ran. */
function counted(run?: (confirmation: Confirmation) => Promise<typeof DONE>) {
  const runs: string[] = [];
  const action: PlannedAction = {
    plan: PLAN,
    run: async (confirmation) => {
      runs.push(confirmation.message);
      return (await run?.(confirmation)) ?? DONE;
    },
  };
  return { action, runs };
}

test('a second confirmation runs nothing, and leads to the same result', async () => {
  const { plans } = stand();
  const { action, runs } = counted();
  const token = plans.show(action);
  const both = await Promise.all([plans.confirm(token, 'a'), plans.confirm(token, 'b')]);
  const third = await plans.confirm(token, 'c');
  assert.deepEqual(runs, ['a']);
  assert.deepEqual(new Set([...both, third]).size, 1);
  assert.deepEqual(plans.started(third ?? '')?.result, DONE);
});

test('a token that no page has confirms nothing', async () => {
  const { plans } = stand();
  const { action, runs } = counted();
  const token = plans.show(action);
  assert.equal(await plans.confirm('', ''), undefined);
  const id = await plans.confirm(token, '');
  assert.equal(await plans.confirm(id ?? '', ''), undefined);
  assert.notEqual(id, token);
  assert.deepEqual(runs, ['']);
});

test('a plan of another session confirms nothing', async () => {
  const { action, runs } = counted();
  const token = stand().plans.show(action);
  assert.equal(await stand().plans.confirm(token, ''), undefined);
  assert.deepEqual(runs, []);
});

test('a plan is not confirmed after ten minutes, and its result stays', async () => {
  const { plans, pass } = stand();
  const { action, runs } = counted();
  const [late, done] = [plans.show(action), plans.show(action)];
  const id = await plans.confirm(done, '');
  pass(11 * 60_000);
  assert.equal(await plans.confirm(late, ''), undefined);
  assert.equal(await plans.confirm(done, ''), id);
  assert.equal(runs.length, 1);
});

test('a plan that is not ready is never run', async () => {
  const { plans } = stand();
  const { action, runs } = counted();
  const token = plans.show({ ...action, plan: { ...PLAN, isReady: false } });
  assert.equal(await plans.confirm(token, ''), undefined);
  assert.deepEqual(runs, []);
});

test('the plans in memory are bounded, and a running one stays', async () => {
  const { plans } = stand();
  const gate = Promise.withResolvers<typeof DONE>();
  const { action } = counted(() => gate.promise);
  const first = plans.show(action);
  const id = await plans.confirm(first, '');
  const oldest = plans.show(counted().action);
  for (let count = 0; count < 60; count += 1) plans.show(counted().action);
  assert.equal(await plans.confirm(oldest, ''), undefined);
  assert.equal(plans.started(id ?? '')?.result, undefined);
  gate.resolve(DONE);
  await turn();
  assert.deepEqual(plans.started(id ?? '')?.result, DONE);
});

test('a plan that was confirmed leads to its result after many newer plans', async () => {
  const { plans } = stand();
  const { action, runs } = counted();
  const token = plans.show(action);
  const id = await plans.confirm(token, '');
  for (let count = 0; count < 60; count += 1) plans.show(counted().action);
  assert.equal(await plans.confirm(token, ''), id);
  assert.deepEqual(plans.started(id ?? '')?.result, DONE);
  assert.equal(runs.length, 1);
});

test('the results in memory are bounded', async () => {
  const { plans } = stand();
  const ids: string[] = [];
  for (let count = 0; count < 600; count += 1) {
    ids.push((await plans.confirm(plans.show(counted().action), '')) ?? '');
  }
  const shown = ids.filter((id) => plans.started(id) !== undefined);
  assert.ok(shown.length <= 550 && shown.includes(ids.at(-1) ?? ''), `${shown.length} results`);
});

test('an action that takes long reports progress, and is stopped by its own token', async () => {
  const { plans } = stand();
  const { action } = counted(async ({ progress, signal }) => {
    for (let count = 0; count < 150; count += 1) progress(`line ${count}`);
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
    });
    return DONE;
  });
  const id = await plans.confirm(plans.show(action), '');
  const started = plans.started(id ?? '');
  assert.equal(started?.result, undefined);
  assert.equal(started?.progress.length, 100);
  assert.equal(started.progress.at(-1), 'line 149');
  assert.equal(plans.stop('other'), undefined);
  assert.equal(plans.stop(started.stopToken), id);
  await turn();
  assert.deepEqual(started.result, DONE);
});

test('the end of the session ends what runs', async () => {
  const { plans, end } = stand();
  const { action } = counted(async ({ signal }) => {
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
    });
    return DONE;
  });
  const id = await plans.confirm(plans.show(action), '');
  end.abort();
  await turn();
  assert.deepEqual(plans.started(id ?? '')?.result, DONE);
});

test('an error is the result of its action', async () => {
  const { plans } = stand();
  const { action } = counted(() => Promise.reject(new Error('no answer')));
  const id = await plans.confirm(plans.show(action), '');
  const { outcome, lines } = plans.started(id ?? '')?.result ?? {};
  assert.deepEqual([outcome, lines], ['failed', ['Error: no answer']]);
});
