// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFairQueue } from '#kube/workqueue/fair-queue.ts';
import { fairnessKeyOf } from '#trust/authority/watches.ts';

test('all Signers of a namespace share a flow', () => {
  const order = createFairQueue<string>((length) => new Uint8Array(length));
  const push = (key: string): void => {
    order.push(key, fairnessKeyOf(key));
  };
  for (let index = 0; index < 1_000; index += 1) push(`team-a/web-${index}`);
  push('workload');
  push('team-b/web');
  const first = Array.from({ length: 3 }, () => order.shift());
  assert.deepEqual(first, ['team-a/web-0', 'workload', 'team-b/web']);
});
