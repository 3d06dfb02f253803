// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import { withFailed, type CertificateSigningRequest } from '#api/request/csr.ts';
import type { NotIssued } from '#requests/issuing/issuing-ca.ts';
import {
  settleByConditions,
  type Settlement,
  type Times,
} from '#requests/issuing/refusal-status.ts';
import { made } from '../../ca/policy/request.ts';

const CREATED = Date.parse('2026-11-01T12:00:00Z');
const LIMIT = 60_000;
const APPROVED: Condition = { type: 'Approved', status: 'True', reason: 'ByHand' };

const csr: CertificateSigningRequest = {
  ...made().csr,
  metadata: { ...made().csr.metadata, creationTimestamp: '2026-11-01T12:00:00Z' },
  status: { conditions: [APPROVED] },
};

const settle = (
  request: CertificateSigningRequest,
  held: NotIssued,
  times: Times,
): Settlement<CertificateSigningRequest> =>
  settleByConditions(request, held, times, {
    withFailed,
    dated: (time) => ({ lastTransitionTime: time, lastUpdateTime: time }),
  });

const after = (
  held: Omit<NotIssued, 'kind'>,
  age: number,
  maxRetryMs: number | undefined = LIMIT,
): Settlement<CertificateSigningRequest> =>
  settle(csr, { kind: 'notIssued', ...held }, { now: CREATED + age, ahead: 0, maxRetryMs });

const conditions = ({
  write,
}: Settlement<CertificateSigningRequest>): readonly (string | undefined)[][] =>
  (write?.status?.conditions ?? []).map(({ type, reason, message }) => [type, reason, message]);

test('an ordinary error before the limit writes nothing and is retried by the limit', () => {
  const { write, outcome } = after({ how: 'retry', message: 'CA is away' }, LIMIT - 1);
  assert.equal(write, undefined);
  assert.deepEqual(outcome.again, { backoffUntil: CREATED + LIMIT });
});

test('an ordinary error at the limit fails the request with the last message', () => {
  const ended = after({ how: 'retry', message: 'CA is away' }, LIMIT);
  assert.equal(ended.ends, true);
  assert.deepEqual(conditions(ended)[1], ['Failed', 'RetriesExhausted', 'CA is away']);
});

test('without a limit, as in the built-in components, no age fails a request', () => {
  const { write, outcome } = settle(
    csr,
    { kind: 'notIssued', how: 'retry', message: 'CA is away' },
    { now: CREATED + 1e12, ahead: 0, maxRetryMs: undefined },
  );
  assert.equal(write, undefined);
  assert.equal(outcome.outcome, 'waiting');
});

test('a permanent error fails the request at once', () => {
  const ended = after({ how: 'permanent', message: 'name refused' }, 0);
  assert.deepEqual(conditions(ended)[1], ['Failed', 'PermanentError', 'name refused']);
});

test('a pending request has no limit and is retried after the returned delay', () => {
  const { write, outcome } = after({ how: 'pending', message: 'at work', afterMs: 5 }, 10 * LIMIT);
  assert.equal(write, undefined);
  assert.deepEqual(outcome.again, { requeueAt: CREATED + 10 * LIMIT + 5 });
});

test('an error of the issuer leaves the request as it is, at any age', () => {
  const { write, outcome } = after({ how: 'issuer', message: 'no login' }, 10 * LIMIT);
  assert.equal(write, undefined);
  assert.equal(outcome.again, 'on-change');
});

for (const how of ['retry', 'pending', 'issuer', 'permanent'] as const) {
  test(`a condition is stored with every type of error: ${how}`, () => {
    const condition: Condition = { type: 'Order', status: 'True', reason: 'Made', message: '7' };
    const found = conditions(after({ how, message: 'no', condition }, 0));
    assert.deepEqual(found[0]?.[0], 'Approved');
    assert.deepEqual(found[1], ['Order', 'Made', '7']);
    assert.equal(found.length, how === 'permanent' ? 3 : 2);
  });
}

test('an unchanged condition is not written again', () => {
  const condition: Condition = { type: 'Order', status: 'True', reason: 'Made', message: '7' };
  const held: NotIssued = { kind: 'notIssued', how: 'pending', message: '', condition };
  const first = settle(csr, held, { now: CREATED, ahead: 0, maxRetryMs: LIMIT });
  assert.ok(first.write);
  assert.equal(
    settle(first.write, held, { now: CREATED + 9, ahead: 0, maxRetryMs: LIMIT }).write,
    undefined,
  );
});

test('the age of a request uses the API server’s clock, and delays use the local one', () => {
  const held: NotIssued = { kind: 'notIssued', how: 'retry', message: 'no' };
  const times = { now: CREATED, ahead: 5_000, maxRetryMs: LIMIT };
  const { outcome } = settle(csr, held, times);
  assert.deepEqual(outcome.again, { backoffUntil: CREATED + LIMIT + 5_000 });
});
