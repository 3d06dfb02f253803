// SPDX-License-Identifier: Apache-2.0
/** Calls that are refused, cut, delayed, or whose answers are lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KINDS } from '../lab/wanted.ts';
import { bench } from './bench.ts';

const WRITES = 5;

test('a write whose response is lost is recognized, not written or signed again', async () => {
  bench.proxy.script.set(`
    approver   PUT */approval first ${WRITES} swallow
    signer     PUT */status   first ${WRITES} swallow
    pcr-issuer PUT */status   first ${WRITES} swallow
    certificate-request PUT */status first ${WRITES} swallow
  `);
  await bench.allDelivered(await bench.requests(10, KINDS));
  assert.equal(bench.proxy.tally.counts().get('PUT: swallow'), 4 * WRITES);
});

for (const fault of [
  'cut',
  'truncate',
  'answer 500',
  'answer 502',
  'answer 503',
  'answer 504',
  'answer 401',
]) {
  test(`writes with "${fault}" recover: all are answered once, none signed twice`, async () => {
    bench.proxy.script.set(`* PUT * every 3 ${fault}`);
    await bench.allDelivered(await bench.requests(10, KINDS));
  });
}
