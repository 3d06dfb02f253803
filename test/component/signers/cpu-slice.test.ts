// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import { ownerOf, createSignerDeadline } from '#component/signers/deadline.ts';
import { runInSlices } from '#component/signers/run-in-slices.ts';
import { remainingMs, chargeSlice } from '#component/signers/cpu-slice.ts';
import { putOffOf } from '../../support/requests/asking-signers.ts';
import { startFakeThread, type FakeThread } from '../../support/requests/fake-thread.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';

test('what is used shortly before a look at sockets counts until the look after it', async () => {
  assert.equal(remainingMs(), 13);
  chargeSlice(4);
  await nextTurn();
  chargeSlice(7);
  assert.equal(remainingMs(), 2);
  await nextTurn();
  assert.equal(remainingMs(), 6);
  chargeSlice(1);
  await nextTurn();
  assert.equal(remainingMs(), 12);
  await nextTurn();
  assert.equal(remainingMs(), 13);
});

test('a turn that was overdrawn is paid for by the next one only', async () => {
  chargeSlice(100);
  assert.ok(remainingMs() < 0);
  await nextTurn();
  assert.ok(remainingMs() < 0);
  await nextTurn();
  assert.equal(remainingMs(), 13);
});

/** Work of the thread that says when it begins, and then evaluates for a while. */
function workOf(
  thread: FakeThread,
  namespace: string,
  { ms, onBegin }: { readonly ms: number; readonly onBegin: () => void },
): () => Promise<void> {
  const owner = ownerOf(teamSigner({ namespace }));
  const deadline = createSignerDeadline(owner, () => undefined);
  return () =>
    runInSlices(() => {
      onBegin();
      return Promise.resolve().then(() => {
        deadline.evaluate('spec.pods.allow', () => {
          thread.work(ms);
        });
      });
    }, owner);
}

test('each waiting namespace begins one piece of work, in order of arrival', async (t) => {
  const thread = await startFakeThread(t);
  const begun: { readonly turn: number; readonly index: number }[] = [];
  let turn = 0;
  const works = Array.from({ length: 8 }, (_, index) => {
    const onBegin = (): void => void begun.push({ turn, index });
    return workOf(thread, `team-line${index}`, { ms: 10, onBegin })();
  });
  const state = { isDone: false };
  const all = Promise.all(works).finally(() => (state.isDone = true));
  for (; !state.isDone; turn += 1) await nextTurn();
  await all;
  assert.deepEqual(
    begun.map(({ index }) => index),
    works.map((_, index) => index),
  );
  assert.equal(new Set(begun.map((each) => each.turn)).size, begun.length);
});

test('work of a namespace that has spent its budget does not begin', async (t) => {
  const thread = await startFakeThread(t);
  let begun = 0;
  const work = workOf(thread, 'team-spent', { ms: 5, onBegin: () => (begun += 1) });
  const put = await putOffOf(async () => {
    while (thread.used() < 10_000) await work();
  });
  assert.equal(put.reason, 'CelBudgetSpent');
  const before = begun;
  await assert.rejects(work(), { reason: 'CelBudgetSpent' });
  assert.equal(begun, before);
});
