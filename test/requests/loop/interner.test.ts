// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createInterner } from '#requests/loop/interner.ts';

/** As in src/requests/loop/interner.ts. */
const MAX_INTERNED = 16_384;

test('an interned string equals its input, however many others there are', () => {
  const shared = createInterner();
  for (let index = 0; index < 3 * MAX_INTERNED; index += 1) {
    assert.equal(
      shared(`node-${index % (2 * MAX_INTERNED)}`),
      `node-${index % (2 * MAX_INTERNED)}`,
    );
  }
});
