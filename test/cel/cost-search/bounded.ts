// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_PAUSE_MS, MAX_RATIO } from './limits.ts';
import { picks } from './random.ts';
import { search } from './search.ts';

/** `make test-cel-cost` searches for ten minutes. */
const SEARCH_MS = 12_000;

test('nothing that a search finds takes longer than its price says, or than a turn may take', async () => {
  const end = performance.now() + SEARCH_MS;
  const found = await search(picks(7), () => performance.now() > end);
  const { measured, worst, longest } = found;
  assert.ok(Object.keys(measured).length > 0, 'nothing took over 1 ms: the values are too small');
  assert.ok((worst?.ratio ?? 0) <= MAX_RATIO, JSON.stringify(worst));
  assert.ok((longest?.pause?.ms ?? 0) <= MAX_PAUSE_MS, JSON.stringify(longest));
});
