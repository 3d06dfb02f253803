// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { charged } from '#component/cpu-accounting.ts';
import { createDelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import { createQueue } from '#kube/workqueue/queue.ts';

/** A queue on a clock that only work moves; a key is `flow/name`. */
function stage(): { readonly take: () => Promise<string>; readonly add: (key: string) => void } {
  let now = 0;
  const clock = (): number => now;
  const none = (): void => undefined;
  const metrics = { added: none, depth: none, waited: none };
  const plain = createQueue(clock, metrics, (size) => new Uint8Array(size));
  const queue = createDelayingQueue(plain, clock, () => none);
  const flowOf = (key: string): string => key.slice(0, key.indexOf('/'));
  queue.assignFlows((key) => ({ distinguishers: [flowOf(key)] }));
  const take = async (): Promise<string> => {
    const key = (await queue.take()) ?? '';
    const isSlow = key.startsWith('slow');
    const work = (): void => {
      now += isSlow ? 100 : 1;
      // What an expression throws costs as much as what it returns.
      if (isSlow) throw new Error('no');
    };
    if (isSlow) assert.throws(() => charged({ clock, queue }, flowOf(key), work));
    else charged({ clock, queue }, flowOf(key), work);
    queue.done(key);
    return key;
  };
  return { take, add: queue.add };
}

test('100 ms of one namespace’s work let a hundred short items of another pass', async () => {
  const { take, add } = stage();
  for (let index = 0; index < 300; index += 1)
    for (const flow of ['slow', 'quick']) add(`${flow}/${index}`);
  const taken: string[] = [];
  for (let index = 0; index < 202; index += 1) taken.push(await take());
  const slow = taken.filter((key) => key.startsWith('slow')).length;
  assert.ok(slow >= 2 && slow <= 3, `${slow} slow ones of 202`);
});
