// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { inParallel } from '#base/in-parallel.ts';

test('results have the order of their items, and no more run at once than allowed', async () => {
  let [running, most] = [0, 0];
  const results = await inParallel(
    [3, 1, 2, 0, 4],
    async (turns) => {
      running += 1;
      most = Math.max(most, running);
      for (let done = 0; done < turns; done += 1) await turn();
      running -= 1;
      return turns * 10;
    },
    2,
  );
  assert.deepEqual(results, [30, 10, 20, 0, 40]);
  assert.equal(most, 2);
});

test('after a rejection no other item begins', async () => {
  const begun: number[] = [];
  const work = async (item: number): Promise<void> => {
    begun.push(item);
    await turn();
    if (item === 1) throw new Error('refused');
  };
  const items = Array.from({ length: 20 }, (_, index) => index);
  await assert.rejects(inParallel(items, work, 2), /refused/);
  for (let turns = 0; turns < 40; turns += 1) await turn();
  assert.ok(begun.length <= 4, begun.join());
});
