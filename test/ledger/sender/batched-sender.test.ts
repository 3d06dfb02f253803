// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import type { Delay } from '#base/ports.ts';
import { BestEffortSender } from '#ledger/sender/best-effort.ts';
import type { SendBatch } from '#ledger/sender/contract.ts';
import { batchSends } from '#ledger/sender/batched-sender.ts';
import { issuedRecord, NOW, resultRecord } from '../../support/ledger/records.ts';

test('together: results go with the next answered record after a ledger restart', async () => {
  const kept: string[] = [];
  let away = true;
  const send: SendBatch = (records) => {
    if (away) return Promise.reject(new Error('connection refused'));
    kept.push(...records.map(({ key }) => key));
    return Promise.resolve(records.map(() => undefined));
  };
  // No pause ends by itself.
  const delay: Delay = (_milliseconds, signal) =>
    new Promise((_, reject) => {
      signal?.addEventListener('abort', () => {
        reject(new Error('aborted'));
      });
    });
  const { sendNow, sendAlong, onAnswer } = batchSends(send, () => Promise.resolve());
  const { component } = issuedRecord(0);
  const spool = new BestEffortSender({
    send: sendAlong,
    delay,
    clock: () => NOW,
    component,
    incarnation: 'x',
    maxWaiting: 10,
    of: 'results',
  });
  onAnswer(() => {
    spool.retryNow();
  });
  await spool.append(resultRecord(1));
  await setImmediate();
  assert.equal(spool.state.failing, true);
  away = false;
  await sendNow([issuedRecord(2)]);
  await setImmediate();
  assert.deepEqual(kept, [issuedRecord(2).key, resultRecord(1).key]);
  assert.deepEqual([spool.state.waiting, spool.state.lost], [0, 0]);
  await spool.close();
});
