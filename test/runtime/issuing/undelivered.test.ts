// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_UNDELIVERED, createUndelivered } from '../../../src/runtime/issuing/undelivered.ts';

test('what was signed last is remembered, however many are not delivered; the oldest is forgotten', () => {
  const undelivered = createUndelivered<number>();
  for (let index = 0; index < MAX_UNDELIVERED; index += 1) undelivered.set(`r-${index}`, index);
  assert.equal(undelivered.get('r-0'), 0);
  undelivered.set('r-0', -1);
  undelivered.set('one more', 1);
  assert.equal(undelivered.get('r-0'), -1, 'signed anew it is a new one');
  assert.equal(undelivered.get('r-1'), undefined);
  assert.equal(undelivered.get('one more'), 1);
  undelivered.delete('one more');
  assert.equal(undelivered.get('one more'), undefined);
});
