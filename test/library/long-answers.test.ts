// SPDX-License-Identifier: Apache-2.0
/** What a CA answers must not fill the memory, the log and the objects of who asked it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_MESSAGE, classifyError } from '../../src/library/calls/classify-error.ts';
import { PermanentError, SetConditionError } from '../../src/library/errors.ts';
import { createRequestOutcomes } from '../../src/library/signing/request-outcomes.ts';

const PAGE = 'é'.repeat(1_000_000);

test('of what a CA says at length the beginning is kept, in the message and in a condition', () => {
  const condition = {
    type: 'CaSaid',
    status: 'False',
    reason: 'R'.repeat(1_000),
    message: PAGE,
  } as const;
  const thrown = classifyError(new SetConditionError(condition, new PermanentError(PAGE)));
  for (const text of [thrown.message, thrown.condition?.message ?? '']) {
    assert.match(text, /^é+…$/);
    assert.ok(Buffer.byteLength(text) <= MAX_MESSAGE);
  }
  assert.equal(thrown.condition?.reason, 'R'.repeat(128));
});

test('however many types of conditions are thrown, the newest few are remembered', () => {
  const memory = createRequestOutcomes();
  for (let index = 0; index < 100; index += 1) {
    const condition = { type: `Said${index}`, status: 'True', reason: '', message: '' } as const;
    memory.record('uid', classifyError(new SetConditionError(condition, new Error('no'))));
  }
  const types = memory.conditions('uid').map(({ type }) => type);
  assert.deepEqual([types.length, types.at(-1)], [8, 'Said99']);
});
