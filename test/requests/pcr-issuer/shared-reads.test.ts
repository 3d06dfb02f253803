// SPDX-License-Identifier: Apache-2.0
/** Reads that are shared are as fresh as if each had been its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { shareReads } from '#requests/pcr-issuer/evidence/shared-reads.ts';

interface Begun {
  readonly path: string;
  readonly answer: (text: string) => void;
  readonly fail: (error: Error) => void;
}

/** Reads that are answered by hand, in the order in which they began. */
function byHand(): { readonly read: (path: string) => Promise<string>; readonly begun: Begun[] } {
  const begun: Begun[] = [];
  const read = shareReads(
    (path) =>
      new Promise<string>((answer, fail) => {
        begun.push({ path, answer, fail });
      }),
  );
  return { read, begun };
}

test('who asks while a read is under way is given one that began later', async () => {
  const { read, begun } = byHand();
  const first = read('a');
  const second = read('a');
  begun[0]?.answer('before');
  assert.equal(await first, 'before');
  await turn();
  begun[1]?.answer('after');
  assert.equal(await second, 'after');
});

test('all who ask during one read share the next', async () => {
  const { read, begun } = byHand();
  const all = Array.from({ length: 100 }, () => read('a'));
  begun[0]?.answer('before');
  await turn();
  assert.equal(begun.length, 2);
  begun[1]?.answer('after');
  assert.deepEqual(await Promise.all(all.slice(1)), Array<string>(99).fill('after'));
});

test('who asks after a read has ended begins another', async () => {
  const { read, begun } = byHand();
  for (const text of ['one', 'two', 'three']) {
    const asked = read('a');
    begun.at(-1)?.answer(text);
    assert.equal(await asked, text);
    await turn();
  }
  assert.equal(begun.length, 3);
});

test('reads of two paths do not wait for each other', () => {
  const { read, begun } = byHand();
  void read('a');
  void read('b');
  assert.deepEqual(
    begun.map(({ path }) => path),
    ['a', 'b'],
  );
});

test('a failed read fails the callers that share it, and no later caller', async () => {
  const { read, begun } = byHand();
  const first = read('a');
  const second = read('a');
  begun[0]?.fail(new Error('away'));
  await assert.rejects(first, /away/);
  await turn();
  begun[1]?.answer('there');
  assert.equal(await second, 'there');
});
