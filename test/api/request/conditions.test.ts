// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  conditionMessage,
  findCondition,
  hasTrueCondition,
  setCondition,
  type Condition,
} from '#api/request/conditions.ts';

/** metav1.Condition: bytes of a message (ValidateCondition). */
const MAX_MESSAGE_BYTES = 32_768;

const ready = (status: Condition['status'], lastTransitionTime: string) => ({
  type: 'Ready',
  status,
  reason: 'Checked',
  lastTransitionTime,
});

test('a condition without a status counts as True; False and Unknown do not', () => {
  const bare = [{ type: 'Approved' }] as unknown as Condition[];
  assert.equal(hasTrueCondition(bare, 'Approved'), true);
  assert.equal(hasTrueCondition([ready('False', 't')], 'Ready'), false);
  assert.equal(hasTrueCondition([ready('Unknown', 't')], 'Ready'), false);
  assert.equal(hasTrueCondition(undefined, 'Ready'), false);
});

test('lastTransitionTime changes only with the status', () => {
  const before = [ready('True', 'early')];
  const same = setCondition(before, { ...ready('True', 'late'), reason: 'Other' });
  assert.deepEqual(same, [{ ...ready('True', 'early'), reason: 'Other' }]);
  const changed = setCondition(before, ready('False', 'late'));
  assert.equal(findCondition(changed, 'Ready')?.lastTransitionTime, 'late');
});

test('other conditions stay and nothing is mutated', () => {
  const other: Condition = { type: 'Stalled', status: 'False' };
  const before = Object.freeze([other, ready('True', 'early')]);
  const after = setCondition(before, ready('False', 'late'));
  assert.equal(after.length, 2);
  assert.equal(findCondition(after, 'Stalled'), other);
  assert.equal(before[1]?.status, 'True');
});

test('a message above the API’s limit is cut with an ellipsis', () => {
  assert.equal(conditionMessage('short'), 'short');
  const cut = conditionMessage('x'.repeat(MAX_MESSAGE_BYTES + 1));
  assert.equal(Buffer.byteLength(cut), MAX_MESSAGE_BYTES);
  assert.ok(cut.endsWith('…'));
});

test('the message limit counts bytes, as the API server does, and splits no character', () => {
  for (const text of ['é', '€', '😀'].map((each) => each.repeat(MAX_MESSAGE_BYTES))) {
    for (const limit of [300, 301, 302, 303, MAX_MESSAGE_BYTES]) {
      const cut = conditionMessage(text, limit);
      assert.ok(Buffer.byteLength(cut) <= limit, `${Buffer.byteLength(cut)} bytes`);
      assert.ok(text.startsWith(cut.slice(0, -1)) && cut.endsWith('…'));
    }
  }
});
