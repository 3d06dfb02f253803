// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reflector } from '#kube/watch/reflector.ts';
import { createWatchSet } from '#kube/watch/watch-set.ts';

/** Reflectors that only write down what is done to them, and end when they are let. */
function watched(): {
  done: string[];
  set: ReturnType<typeof createWatchSet<string>>;
  finish: Map<string, () => void>;
} {
  const done: string[] = [];
  const finish = new Map<string, () => void>();
  const set = createWatchSet<string>((key): Reflector<string> => ({
    run: (signal) => {
      done.push(`run ${key}`);
      signal.addEventListener('abort', () => done.push(`abort ${key}`));
      return new Promise((resolve) => finish.set(key, resolve));
    },
    clear: () => done.push(`clear ${key}`),
    synced: true,
    version: undefined,
    failure: undefined,
    whenSynced: () => Promise.resolve(),
    get: () => undefined,
    list: () => [],
    applyWrite: () => undefined,
  }));
  return { done, set, finish };
}

test('reconcile starts new watches, ends and clears unwanted ones, and keeps others', () => {
  const { done, set } = watched();
  set.reconcile(['a', 'b']);
  set.reconcile(['b', 'c', 'c']);
  assert.deepEqual(done, ['run a', 'run b', 'abort a', 'clear a', 'run c']);
  assert.deepEqual(
    set.entries().map(([key]) => key),
    ['b', 'c'],
  );
  assert.equal(set.get('a'), undefined);
  assert.ok(set.get('b'));
});

test('a watch that is wanted again starts afresh', () => {
  const { done, set } = watched();
  set.reconcile(['a']);
  set.reconcile([]);
  set.reconcile(['a']);
  assert.deepEqual(done, ['run a', 'abort a', 'clear a', 'run a']);
});

test('stop waits for every watch, also for those ended before, and clears none', async () => {
  const { done, set, finish } = watched();
  set.reconcile(['a', 'b']);
  set.reconcile(['b']);
  let stopped = false;
  const stopping = set.stop().then(() => (stopped = true));
  finish.get('b')?.();
  await new Promise(setImmediate);
  assert.equal(stopped, false, 'a has not ended yet');
  finish.get('a')?.();
  await stopping;
  assert.deepEqual(done, ['run a', 'run b', 'abort a', 'clear a', 'abort b']);
});
