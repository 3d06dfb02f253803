// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrivals } from '../../bench/latency/arrivals.ts';
import { percentile } from '../../bench/measure/percentile.ts';

test('a percentile is a value that was measured, by the nearest rank', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  assert.deepEqual(
    [0.01, 0.5, 0.99, 1].map((share) => percentile(hundred, share)),
    [1, 50, 99, 100],
  );
  assert.equal(percentile([7], 0.99), 7);
});

test('arrivals match the rate, are in order, and irregular as independent ones', () => {
  // A linear congruential generator (Numerical Recipes): the same draws in every run.
  let state = 1;
  const random = (): number => (state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32) / 2 ** 32;
  const all = arrivals({ perSecond: 100, seconds: 100 }, random);
  assert.ok(all.every((at, index) => at < 100_000 && at > (all[index - 1] ?? -1)));
  // Four standard deviations of a Poisson count of mean 10,000.
  assert.ok(Math.abs(all.length - 10_000) < 400, `${all.length} arrivals`);
  const gaps = all.slice(1).map((at, index) => at - (all[index] ?? 0));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
  // Of an exponential distribution both are the same.
  assert.ok(Math.abs(Math.sqrt(variance) / mean - 1) < 0.1, 'the gaps are not exponential');
});
