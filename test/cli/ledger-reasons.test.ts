// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ledgerFault, readable } from '#cli/sources/ledger-records.ts';
import { KubeError } from '#kube/client/kube-error.ts';

function answered(message: string): Promise<never> {
  const body = { message, reason: 'ServiceUnavailable' };
  return Promise.reject(new KubeError({ status: 503, what: 'GET /apis', body }));
}

test('why the ledger does not answer is said in its own words where it has said them', async () => {
  const reason = 'the ledger cannot answer now: the database of the ledger cannot be used: timeout';
  await assert.rejects(readable(answered(reason)), (error: Error) => {
    assert.equal(error.message, reason);
    assert.equal(ledgerFault(error), 'unreachable');
    return true;
  });
  await assert.rejects(readable(answered('service unavailable')), /does not answer: see whether/);
});
