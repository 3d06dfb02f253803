// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import { ownerOf, createSignerDeadline } from '../../../src/runtime/signers/deadline.ts';
import { inTurns } from '../../../src/runtime/signers/in-turns.ts';
import { PutOff } from '../../../src/runtime/signers/put-off.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';

function spin(milliseconds: number): void {
  const before = process.threadCpuUsage();
  for (;;) {
    const { user, system } = process.threadCpuUsage(before);
    if (user + system >= milliseconds * 1_000) return;
  }
}

/** Work that counts how often it begins, and then evaluates for a while. */
function workOf(namespace: string, milliseconds: number, onBegin: () => void): () => Promise<void> {
  const owner = ownerOf(teamSigner({ namespace }));
  const deadline = createSignerDeadline(owner, () => undefined);
  return () =>
    inTurns(() => {
      onBegin();
      return Promise.resolve().then(() => {
        deadline.evaluate('spec.pods.allow', () => {
          spin(milliseconds);
        });
      });
    }, owner);
}

test('of all the work of namespaces that waits for a turn, one piece begins in each', async () => {
  const begun: number[] = [];
  let turns = 0;
  const works = Array.from({ length: 8 }, (_, index) =>
    workOf(`team-line${index}`, 10, () => begun.push(turns))(),
  );
  const state = { isDone: false };
  const all = Promise.allSettled(works).finally(() => (state.isDone = true));
  for (; !state.isDone; turns += 1) await nextTurn();
  await all;
  assert.ok(begun.length >= works.length);
  assert.equal(new Set(begun).size, begun.length, begun.join(' '));
});

test('work of a namespace that has spent its budget does not begin', async () => {
  let begun = 0;
  const work = workOf('team-spent', 5, () => (begun += 1));
  await untilSpent(work);
  const before = begun;
  await assert.rejects(work(), { reason: 'CelBudgetSpent' });
  assert.equal(begun, before);
});

/** Works until the namespace has spent its budget, however busy the machine is. */
async function untilSpent(work: () => Promise<unknown>): Promise<PutOff> {
  for (;;) {
    try {
      await work();
    } catch (error) {
      assert.ok(error instanceof PutOff, String(error));
      if (error.reason === 'CelBudgetSpent') return error;
    }
  }
}
