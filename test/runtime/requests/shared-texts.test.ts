// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_TEXTS, createSharedTexts } from '../../../src/runtime/requests/shared-texts.ts';

test('a text stays what it is, however many others there are', () => {
  const shared = createSharedTexts();
  for (let index = 0; index < 3 * MAX_TEXTS; index += 1) {
    assert.equal(shared(`node-${index % (2 * MAX_TEXTS)}`), `node-${index % (2 * MAX_TEXTS)}`);
  }
});
