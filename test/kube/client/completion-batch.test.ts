// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createCompletionBatch } from '#kube/client/completion-batch.ts';

test('completions of one turn run in order at its end, those they add a turn later', async () => {
  const gather = createCompletionBatch();
  const done: string[] = [];
  gather(() => {
    done.push('a');
    gather(() => done.push('c'));
  });
  gather(() => done.push('b'));
  await Promise.resolve();
  assert.deepEqual(done, []);
  await turn();
  assert.deepEqual(done, ['a', 'b']);
  await turn();
  assert.deepEqual(done, ['a', 'b', 'c']);
});

test('however many responses arrive together, eight are completed in a turn', async () => {
  const gather = createCompletionBatch();
  const done: number[] = [];
  for (let index = 0; index < 20; index += 1) gather(() => done.push(index));
  for (const count of [8, 16, 20]) {
    await turn();
    assert.equal(done.length, count);
  }
  assert.deepEqual(
    done,
    Array.from({ length: 20 }, (_, index) => index),
  );
});
