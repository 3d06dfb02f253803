// SPDX-License-Identifier: Apache-2.0
/** A long answer of a CA must not fill memory, logs and objects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyError } from '#library/calls/classify-error.ts';
import { PermanentError, SetConditionError } from '#library/errors.ts';
import { createRequestOutcomes } from '#library/signing/request-outcomes.ts';

/** Bytes that are kept, as ConditionOf documents. */
const KEPT = 1_024;
const PAGE = 'é'.repeat(1_000_000);

test('a long message of a CA is shortened, in the error and in the condition', () => {
  const condition = {
    type: 'CaSaid',
    status: 'False',
    reason: 'R'.repeat(1_000),
    message: PAGE,
  } as const;
  const thrown = classifyError(new SetConditionError(condition, new PermanentError(PAGE)));
  for (const text of [thrown.message, thrown.condition?.message ?? '']) {
    assert.match(text, /^é+…$/);
    assert.ok(Buffer.byteLength(text) <= KEPT);
  }
  assert.equal(thrown.condition?.reason, 'R'.repeat(128));
});

test('only the newest eight condition types of a request are kept', () => {
  const outcomes = createRequestOutcomes();
  for (let index = 0; index < 100; index += 1) {
    const condition = { type: `Said${index}`, status: 'True', reason: '', message: '' } as const;
    outcomes.record('uid', classifyError(new SetConditionError(condition, new Error('no'))));
  }
  const types = outcomes.conditions('uid').map(({ type }) => type);
  assert.deepEqual([types.length, types.at(-1)], [8, 'Said99']);
});
