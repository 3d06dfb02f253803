// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFinished } from '../../../src/api/certificate-request.ts';
import { afterHeld } from '../../../src/controllers/certificate-request/held.ts';
import { certificateRequest } from '../../support/certificate-request.ts';

const TIMES = { now: 1_000_000, ahead: 500 };
const request = certificateRequest();

test('permanent: it ends, Failed, with the CA’s words', () => {
  const { write, outcome } = afterHeld(
    request,
    { kind: 'held', how: 'permanent', message: 'no' },
    TIMES,
  );
  assert.ok(write !== undefined && isFinished(write));
  assert.equal(write.status?.failureTime, '1970-01-01T00:16:40Z');
  assert.deepEqual(
    [outcome.outcome, outcome.reason, outcome.message],
    ['failed', 'PermanentError', 'no'],
  );
});

const waits = [
  ['retry', 'SignFailed', undefined, true],
  ['pending', 'Pending', { at: 1_007_500 }, false],
  ['issuer', 'IssuerError', 'on-change', false],
] as const;

for (const [how, reason, again, tells] of waits) {
  test(`${how}: it waits, and nothing is written`, () => {
    const { write, outcome } = afterHeld(
      request,
      { kind: 'held', how, message: 'later', afterMs: 7_000 },
      TIMES,
    );
    assert.equal(write, undefined);
    assert.deepEqual([outcome.outcome, outcome.reason, outcome.again], ['waiting', reason, again]);
    assert.equal(outcome.event !== undefined, tells);
  });
}
