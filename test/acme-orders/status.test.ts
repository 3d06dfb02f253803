// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  challengeRecordOf,
  challengeStatusOf,
  NEW_CHALLENGE,
  NEW_ORDER,
  orderRecordOf,
  orderStatusOf,
} from '../../src/acme-orders/index.ts';
import { ORDER_STATUS, CHALLENGE_STATUS } from '../../src/api/acme/index.ts';
import type { ChallengeRecord, OrderRecord } from '../../src/acme-orders/record.ts';

const at = Date.parse('2026-11-22T10:00:00Z');
const offered = [
  { type: 'dns-01', url: 'https://ca/c/1', token: 'tok' },
  { type: 'dns-persist-01', url: 'https://ca/c/2' },
];

const order: OrderRecord = {
  url: 'https://ca/o/1',
  state: 'valid',
  replacesRefused: true,
  authorizations: [
    { url: 'https://ca/a/1', name: 'example.com', wildcard: true, wasValid: false, offered },
  ],
  chain: 'PEM',
  finalAt: at,
  reason: 'RateLimited',
  message: 'later',
  failures: 2,
  nextAttemptAt: at + 1000,
};

test('the status of an Order says all that its record has, and is read back as the same record', () => {
  const status = orderStatusOf(order, {});
  assert.deepEqual(ORDER_STATUS.parse(status), status);
  assert.deepEqual(orderRecordOf(JSON.parse(JSON.stringify(status)) as never), order);
  assert.deepEqual(orderStatusOf(NEW_ORDER, {}), {});
});

test('the status of a Challenge says all that its record has, and is read back as the same record', () => {
  const record: ChallengeRecord = {
    state: 'pending',
    processing: true,
    presented: true,
    presentedAt: at,
    finalAt: at,
    reason: 'NotPropagated',
    message: 'not there',
    failures: 1,
    nextAttemptAt: at + 10_000,
  };
  const status = challengeStatusOf(record, {});
  assert.deepEqual(CHALLENGE_STATUS.parse(status), status);
  assert.deepEqual(challengeRecordOf(status), record);
  assert.deepEqual(challengeStatusOf(NEW_CHALLENGE, {}), { processing: false, presented: false });
});

test('what another writes into a status stays', () => {
  const renewal = { renewAt: '2026-12-22T10:00:00Z' };
  assert.deepEqual(orderStatusOf(order, { renewal }).renewal, renewal);
  const revocation = { state: 'revoked' as const };
  assert.deepEqual(orderStatusOf(order, { revocation }).revocation, revocation);
  const solver = { presented: true };
  assert.deepEqual(challengeStatusOf(NEW_CHALLENGE, { solver }).solver, solver);
});

test('a time is never earlier in the status than in the record, and a message never longer than the CRD allows', () => {
  const status = orderStatusOf({ ...order, nextAttemptAt: at + 1, message: 'ü'.repeat(5000) }, {});
  assert.equal(status.nextAttemptAt, '2026-11-22T10:00:01Z');
  assert.ok(ORDER_STATUS.safeParse(status).success);
});
