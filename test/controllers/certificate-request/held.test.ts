// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFinished } from '../../../src/api/request/certificate-request.ts';
import type { Condition } from '../../../src/api/request/conditions.ts';
import { afterHeld } from '../../../src/controllers/certificate-request/held.ts';
import { certificateRequest } from '../../support/requests/certificate-request.ts';

/** Our own component gives no request up. */
const TIMES = { now: 1_000_000, ahead: 500, maxRetryMs: undefined };
const request = certificateRequest();
const CREATED = Date.parse(request.metadata.creationTimestamp);
const LIMIT = 60_000;

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
  ['retry', 'SignFailed', { backoffUntil: Infinity }, true],
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

test('with a limit, an ordinary error at it ends the request with the last message, and no sooner', () => {
  const held = { kind: 'held', how: 'retry', message: 'CA is away' } as const;
  const times = { ahead: 0, maxRetryMs: LIMIT };
  const before = afterHeld(request, held, { ...times, now: CREATED + LIMIT - 1 });
  assert.equal(before.write, undefined);
  assert.deepEqual(before.outcome.again, { backoffUntil: CREATED + LIMIT });
  const { write } = afterHeld(request, held, { ...times, now: CREATED + LIMIT });
  assert.ok(write !== undefined && isFinished(write));
  const ready = write.status?.conditions?.find(({ type }) => type === 'Ready');
  assert.deepEqual([ready?.reason, ready?.message], ['Failed', 'RetriesExhausted: CA is away']);
});

test('a condition is stored as cert-manager writes them: with one time, and once', () => {
  const condition: Condition = { type: 'Order', status: 'True', reason: 'Made', message: '7' };
  const held = { kind: 'held', how: 'pending', message: '', condition } as const;
  const { write, ends } = afterHeld(request, held, TIMES);
  assert.equal(ends, false);
  assert.deepEqual(write?.status?.conditions?.at(-1), {
    ...condition,
    lastTransitionTime: '1970-01-01T00:16:40Z',
  });
  assert.equal(afterHeld(write, held, TIMES).write, undefined);
});
