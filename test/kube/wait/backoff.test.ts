// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { backoffDelay } from '#kube/wait/backoff.ts';

const least = (size: number): Uint8Array => new Uint8Array(size);
const most = (size: number): Uint8Array => new Uint8Array(size).fill(0xff);

test('a delay doubles with each failure up to its limit', () => {
  const init = { firstMs: 5, maxMs: 1_000_000, random: least };
  const delays = [0, 1, 2, 10, 17, 18, 40, 2_000].map((failures) => backoffDelay(failures, init));
  assert.deepEqual(delays, [5, 10, 20, 5_120, 655_360, 1_000_000, 1_000_000, 1_000_000]);
});

test('jitter adds up to half of the delay, and never shortens it', () => {
  fc.assert(
    fc.property(fc.nat(100), fc.uint8Array({ minLength: 4, maxLength: 4 }), (failures, bytes) => {
      const base = backoffDelay(failures, { firstMs: 800, maxMs: 30_000, random: least });
      const delay = backoffDelay(failures, { firstMs: 800, maxMs: 30_000, random: () => bytes });
      assert.ok(delay >= base && delay < base * 1.5, `${delay} for ${base}`);
    }),
  );
  assert.ok(backoffDelay(0, { firstMs: 800, maxMs: 30_000, random: most }) > 1_199);
});
