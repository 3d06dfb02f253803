// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_PAUSE_MS, MAX_RATIO } from './cost-search/limits.ts';
import { picks, search } from './cost-search/search.ts';

/** `make test-cel-cost` searches for ten minutes. */
const SEARCH_MS = 12_000;

test('no expression that a search finds takes longer than its price says', () => {
  const end = performance.now() + SEARCH_MS;
  const { measured, worst, longest } = search(picks(7), () => performance.now() > end);
  assert.ok(measured > 0, 'nothing took over 1 ms: the request does not fit the environment');
  assert.ok((worst?.ratio ?? 0) <= MAX_RATIO, JSON.stringify(worst));
  assert.ok((longest?.ms ?? 0) <= MAX_PAUSE_MS, JSON.stringify(longest));
});
