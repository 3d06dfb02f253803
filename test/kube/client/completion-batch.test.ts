// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createCompletionBatch } from '../../../src/kube/client/completion-batch.ts';

test('what comes in one turn is done at its end, in its order; what that brings, at the end of the next', async () => {
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
