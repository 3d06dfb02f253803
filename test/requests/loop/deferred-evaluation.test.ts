// SPDX-License-Identifier: Apache-2.0
/** Requests whose signer's expressions have no time left wait, and those of others are answered. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { SliceEnded } from '#component/signers/deadline.ts';
import { budgetSpent, EvaluationTimeout, throttled } from '#component/signers/evaluation-errors.ts';
import type { FoundFault } from '#component/serving-state.ts';
import { until } from '../../cluster/until.ts';
import { PATIENCE_MS } from '../../support/kube/reflector-fixture.ts';
import { request, startControlled, type Controlled } from './controlled.ts';

let it: Controlled;

let reported: (readonly [string, FoundFault])[];

beforeEach(async () => {
  reported = [];
  it = await startControlled({
    serving: {
      report: ({ metadata }, fault) => void reported.push([metadata.name, fault]),
      retract: () => undefined,
    },
  });
});
afterEach(() => it.stop());

const hear = (...objects: readonly object[]): void => {
  it.requests.lines(...objects.map((object) => ({ type: 'ADDED', object })));
};
const looksAt = (name: string): number =>
  it.looks.filter((look) => look.startsWith(`${name}@`)).length;
const topSpender = { signer: 'web', where: 'spec.pods.allow', ms: 12 };
const spent = budgetSpent('team-a', { waitMs: 700, topSpender });

test('another request is answered while more requests than workers wait for a budget', async () => {
  it.answer(({ metadata }) => {
    if (metadata.name.startsWith('dear')) throw spent;
    return { outcome: 'undecided', reason: 'NoRuleMatched' };
  });
  hear(...[1, 2, 3, 4, 5].map((n) => request(`dear${n}`, n)), request('cheap', 9));
  await it.looked('cheap@9');
});

test('a request that waits for a budget is reconciled in its turn, not before', async () => {
  it.answer(() => {
    if (looksAt('dear') === 1) throw spent;
    return { outcome: 'undecided', reason: 'NoRuleMatched' };
  });
  hear(request('dear', 5));
  await it.looked('dear@5');
  await it.time.advance(600);
  assert.equal(looksAt('dear'), 1);
  await it.time.advance(200);
  await until('it is looked at again', PATIENCE_MS, () => looksAt('dear') === 2);
});

test('the signer says in an Event and in a condition which expression it is', async () => {
  it.answer(({ metadata }) => {
    throw metadata.name === 'dear'
      ? spent
      : new EvaluationTimeout('evaluate', 'spec.requests.rules[0].when');
  });
  hear(request('dear', 5), request('endless', 6));
  await it.looked('dear@5', 'endless@6');
  const told = (): readonly (readonly [string, string, string])[] =>
    it.component.notes
      .filter(({ regarding }) => regarding.kind === 'ClusterSigner')
      .map(({ regarding, reason, note }) => [regarding.name, reason, note] as const);
  await until('two Events', PATIENCE_MS, () => told().length >= 2);
  // One request that takes too long does not show that no other one is answered.
  const faults = reported.map(([name, { reason, stops }]) => [name, reason, stops]);
  assert.deepEqual(faults.slice(0, 2).toSorted(), [
    ['workload', 'CelBudgetSpent', false],
    ['workload', 'CelTimeout', false],
  ]);
  const overrun = reported.find(([, { reason }]) => reason === 'CelTimeout')?.[1];
  assert.equal(overrun?.expression, 'spec.requests.rules[0].when');
  for (const [name, reason, note] of told()) {
    assert.equal(name, 'workload');
    assert.match(
      note,
      reason === 'CelTimeout' ? /^spec\.requests\.rules\[0\]\.when: / : /spec\.pods\.allow/,
    );
  }
});

test('a busy machine causes no Event, and the evaluation is retried', async () => {
  it.answer(() => {
    if (looksAt('a') === 1) throw throttled('spec.pods.allow');
    return { outcome: 'undecided', reason: 'NoRuleMatched' };
  });
  hear(request('a', 5));
  await it.looked('a@5');
  await it.time.advance(300);
  await until('it is looked at again', PATIENCE_MS, () => looksAt('a') === 2);
  assert.deepEqual(it.component.notes, []);
});

test('an evaluation ended in one event loop turn restarts in the next, in one look', async () => {
  const deadline = {
    compile: () => assert.fail(),
    evaluate: () => assert.fail(),
    together: () => assert.fail(),
    discard: () => undefined,
    progress: () => 0,
    refuse: () => undefined,
  };
  it.answer(() => {
    const ended = { deadline, where: 'spec.requests', step: 'evaluate', usedMs: 5 } as const;
    if (looksAt('a') === 1) throw new SliceEnded(ended);
    return { outcome: 'undecided', reason: 'NoRuleMatched' };
  });
  hear(request('a', 5));
  // The clock of the queue stands still: nothing is queued again.
  await until('it is begun again', PATIENCE_MS, () => looksAt('a') === 2);
});
