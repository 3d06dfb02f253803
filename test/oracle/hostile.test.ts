// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, mock, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { DerReader } from '#pki/der/der-reader.ts';
import type { Case } from './corpus/case.ts';
import { CORPUS } from './corpus/index.ts';
import { FAMILIES } from './hostile.ts';
import { isLong } from './length.ts';
import { take } from './take.ts';

/** Linear is 4 at four times the size, quadratic is 16: what is constant blurs both. */
const MAX_GROWTH = 8;

/** Below it a clock says nothing. */
const FLOOR_MS = 2;

const MIN_TAKES = 9;
const MAX_TAKES = 200;
const ENOUGH_MS = 100;
const HEAP_MB = 64;

/** As much of a message as an operator reads; a condition of the API holds 32 KiB. */
const MAX_CHARACTERS = 2000;

type Cost = (kind: Case['kind'], bytes: Uint8Array) => number;

/** DER elements that are looked at: the same in every run. */
const elements: Cost = (kind, bytes) => {
  const counted = (['read', 'enter', 'raw'] as const).map((name) =>
    mock.method(DerReader.prototype, name),
  );
  take(kind, bytes);
  const count = counted.reduce((sum, { mock: each }) => sum + each.callCount(), 0);
  for (const { mock: each } of counted) each.restore();
  return count;
};

/**
 * CPU time of this thread alone, so that others on the machine do not count. Its grain is that of
 * the kernel's ticks: so the mean of as many takes as make it small. To be compared with others of
 * its kind only, never a limit in itself.
 */
const milliseconds: Cost = (kind, bytes) => {
  const before = process.threadCpuUsage();
  let spent = 0;
  let takes = 0;
  while (takes < MIN_TAKES || (spent < ENOUGH_MS && takes < MAX_TAKES)) {
    take(kind, bytes);
    takes += 1;
    const { user, system } = process.threadCpuUsage(before);
    spent = (user + system) / 1000;
  }
  return spent / takes;
};

function assertLinear(
  cost: Cost,
  kind: Case['kind'],
  files: readonly Uint8Array[],
  floor: number,
): void {
  const [one = 0, two = 0, four = 0] = files.map((bytes) => cost(kind, bytes));
  const seen = `${one}, ${two}, ${four} at n, 2n, 4n`;
  assert.ok(two <= (MAX_GROWTH / 2) * one + floor, seen);
  assert.ok(four <= MAX_GROWTH * one + floor, seen);
}

describe('the cost of a hostile file grows linearly with its size', () => {
  for (const [name, { kind, make, size }] of FAMILIES) {
    test(name, (t) => {
      const files = [1, 2, 4].map((times) => make(times * size));
      assertLinear(elements, kind, files, 1);
      // A clock judges only where somebody waits for it: what is counted above is the same
      // everywhere.
      if (isLong) assertLinear(milliseconds, kind, files, FLOOR_MS);
      t.diagnostic(`${milliseconds(kind, files[2] ?? new Uint8Array()).toFixed(1)} ms at 4n`);
    });
  }
});

/** All of the corpus, and the largest of each family. */
const files = [
  ...CORPUS.map(({ kind, bytes }) => ({ kind, bytes: bytes() })),
  ...[...FAMILIES.values()].map(({ kind, make, size }) => ({ kind, bytes: make(4 * size) })),
];

test('no error quotes its input at length', () => {
  const messages = files.map(({ kind, bytes }) => take(kind, bytes) ?? '');
  assert.deepEqual(
    messages.filter(({ length }) => length > MAX_CHARACTERS),
    [],
  );
});

test(`no file needs more than ${HEAP_MB} MB of heap`, { skip: !isLong }, async () => {
  const worker = new Worker(join(import.meta.dirname, 'small-heap.ts'), {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 16 },
  });
  // Without memory the worker ends with ERR_WORKER_OUT_OF_MEMORY, which `once` rejects with.
  for (const file of files) {
    const answered = once(worker, 'message');
    worker.postMessage(file);
    await answered;
  }
  await worker.terminate();
});
