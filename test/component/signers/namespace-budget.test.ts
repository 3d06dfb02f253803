// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createNamespaceBudgets,
  type NamespaceBudgets,
} from '#component/signers/namespace-budget.ts';

/** What docs/adr/0029 promises: so much in a second, and as much again that was saved up. */
const PROMISED_MS = 100;
const WHAT = { signer: 'web', where: 'spec.pods.allow' };

/** A clock that stands still until it is set, and budgets that follow it. */
interface Stage {
  now: number;
  readonly budgets: NamespaceBudgets;
}

function staged(): Stage {
  const stage: Stage = { now: 0, budgets: createNamespaceBudgets(() => stage.now) };
  return stage;
}

/** Does work of this many milliseconds whenever it may, for a time; the clock passes meanwhile. */
function busy(
  stage: Stage,
  namespace: string,
  piece: number,
  until: number,
): readonly { readonly at: number; readonly ms: number }[] {
  const done: { readonly at: number; readonly ms: number }[] = [];
  while (stage.now < until) {
    if (stage.budgets.refusal(namespace) === undefined) {
      stage.budgets.charge(namespace, piece, WHAT);
      done.push({ at: stage.now, ms: piece });
    }
    stage.now += 1;
  }
  return done;
}

for (const piece of [0.3, 4, 15]) {
  test(`a namespace never uses more per second than savings, refill and ${piece} ms`, () => {
    const done = busy(staged(), 'team-a', piece, 10_000);
    for (const { at } of done) {
      const second = done.filter((each) => each.at >= at && each.at < at + 1_000);
      const used = second.reduce((sum, { ms }) => sum + ms, 0);
      assert.ok(used <= 2 * PROMISED_MS + piece, `${used} ms from ${at} on`);
    }
    const all = done.reduce((sum, { ms }) => sum + ms, 0);
    assert.ok(all <= 11 * PROMISED_MS + piece, `${all} ms in ten seconds`);
  });
}

test('what one namespace spends is not taken from another', () => {
  const stage = staged();
  stage.budgets.charge('team-a', 1_000, WHAT);
  assert.notEqual(stage.budgets.refusal('team-a'), undefined);
  assert.equal(stage.budgets.refusal('team-b'), undefined);
});

test('those that wait have their turn one after the other, and find time then', () => {
  const stage = staged();
  const piece = 5;
  for (let i = 0; i < 40; i += 1) stage.budgets.charge('team-a', piece, WHAT);
  const waits = Array.from({ length: 50 }, () => stage.budgets.refusal('team-a')?.waitMs ?? 0);
  assert.deepEqual(
    waits,
    waits.toSorted((a, b) => a - b),
  );
  for (const wait of waits) {
    stage.now = wait + 1;
    assert.equal(stage.budgets.refusal('team-a'), undefined, `after ${wait} ms`);
    stage.budgets.charge('team-a', piece, WHAT);
  }
});

test('a refusal names what took the longest at once', () => {
  const stage = staged();
  stage.budgets.charge('team-a', 40, { signer: 'api', where: 'spec.pods.uris[0]' });
  stage.budgets.charge('team-a', 90, { signer: 'web', where: 'spec.pods.allow' });
  stage.budgets.charge('team-a', 50, { signer: 'api', where: 'spec.pods.uris[1]' });
  assert.deepEqual(stage.budgets.refusal('team-a')?.topSpender, {
    signer: 'web',
    where: 'spec.pods.allow',
    ms: 90,
  });
});

test('a namespace that rests gets its whole budget back, and no more', () => {
  const stage = staged();
  stage.budgets.charge('team-a', 5 * PROMISED_MS, WHAT);
  stage.now = 3_600_000;
  assert.equal(stage.budgets.refusal('team-a'), undefined);
  stage.budgets.charge('team-a', PROMISED_MS, WHAT);
  assert.notEqual(stage.budgets.refusal('team-a'), undefined);
});

test('remembers a namespace with a spent budget, however many others come and go', () => {
  const stage = staged();
  stage.budgets.charge('team-a', 5 * PROMISED_MS, WHAT);
  for (let other = 0; other < 2_000; other += 1) {
    stage.now += 0.1;
    stage.budgets.charge(`other-${other}`, 1, WHAT);
  }
  assert.notEqual(stage.budgets.refusal('team-a'), undefined);
});

test('a namespace may use all that it saved up at once, and then waits', () => {
  const stage = staged();
  stage.budgets.charge('team-a', PROMISED_MS - 1, WHAT);
  assert.equal(stage.budgets.refusal('team-a'), undefined);
  stage.budgets.charge('team-a', 1, WHAT);
  const { waitMs = 0 } = stage.budgets.refusal('team-a') ?? {};
  assert.ok(waitMs > 0);
  stage.now += waitMs;
  assert.equal(stage.budgets.refusal('team-a'), undefined);
});
