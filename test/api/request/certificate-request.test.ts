// SPDX-License-Identifier: Apache-2.0
/** By cert-manager v1.21.2, pkg/controller/certificaterequests/util/reporter.go and sync.go. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isFinished,
  withDenied,
  withFailed,
  withIssued,
} from '#api/request/certificate-request.ts';
import type { Condition } from '#api/request/conditions.ts';
import {
  APPROVED,
  DENIED,
  certificateRequest,
} from '../../support/requests/certificate-request.ts';

const NOW = Date.parse('2026-11-21T12:00:00.789Z');
const AT = '2026-11-21T12:00:00Z';
const request = certificateRequest();

test('issued: Ready=True, Issued; certificate and ca are base64 PEM; the rest stays', () => {
  const { status, spec } = withIssued(request, { chain: 'leaf\n', anchors: 'root\n' }, NOW);
  assert.deepEqual(spec, request.spec);
  assert.deepEqual(status, {
    conditions: [
      APPROVED,
      {
        type: 'Ready',
        status: 'True',
        reason: 'Issued',
        message: 'Certificate fetched from issuer successfully',
        lastTransitionTime: AT,
      },
    ],
    certificate: 'bGVhZgo=',
    ca: 'cm9vdAo=',
  });
});

test('denied: Ready is False, Denied, with failureTime, and no certificate', () => {
  const { status } = withDenied(certificateRequest({ conditions: [DENIED] }), NOW);
  const [denied, ready, ...more] = status?.conditions ?? [];
  assert.deepEqual([denied, more], [DENIED, []]);
  assert.deepEqual([ready?.type, ready?.status, ready?.reason], ['Ready', 'False', 'Denied']);
  assert.equal(status?.failureTime, AT);
  assert.equal(status.certificate, undefined);
});

test('failed: Ready=False, Failed; InvalidRequest with the reason; and failureTime', () => {
  const { status } = withFailed(request, { reason: 'WeakKey', message: 'too short' }, NOW);
  const [approved, invalid, ready] = status?.conditions ?? [];
  assert.deepEqual(approved, APPROVED);
  assert.deepEqual(invalid, {
    type: 'InvalidRequest',
    status: 'True',
    reason: 'WeakKey',
    message: 'too short',
    lastTransitionTime: AT,
  });
  assert.deepEqual([ready?.status, ready?.reason], ['False', 'Failed']);
  assert.equal(ready?.message, 'WeakKey: too short');
  assert.equal(status?.failureTime, AT);
});

test('a condition replaces the one of its type, and the first failureTime stays', () => {
  const pending: Condition = { type: 'Ready', status: 'False', reason: 'Pending' };
  const failureTime = '2026-11-21T11:00:00Z';
  const before = { ...request, status: { conditions: [APPROVED, pending], failureTime } };
  const { status } = withFailed(before, { reason: 'WeakKey', message: '' }, NOW);
  assert.deepEqual(
    (status?.conditions ?? []).map(({ type }) => type),
    ['Approved', 'InvalidRequest', 'Ready'],
  );
  assert.equal(status?.failureTime, failureTime);
});

const ready = (reason: string, status: Condition['status'] = 'False'): Condition => ({
  type: 'Ready',
  status,
  reason,
});

const finished: [law: string, conditions: readonly Condition[], is: boolean][] = [
  ['approved only', [APPROVED], false],
  ['denied only: it is still to be shown', [DENIED], false],
  ['pending', [APPROVED, ready('Pending')], false],
  ['initializing', [APPROVED, ready('Initializing', 'Unknown')], false],
  ['issued', [APPROVED, ready('Issued', 'True')], true],
  ['ready for whatever reason', [APPROVED, ready('Foreign', 'True')], true],
  ['failed', [APPROVED, ready('Failed')], true],
  ['shown as denied', [DENIED, ready('Denied')], true],
  ['invalid', [APPROVED, { type: 'InvalidRequest', status: 'True' }], true],
  ['not invalid', [APPROVED, { type: 'InvalidRequest', status: 'False' }], false],
];

for (const [law, conditions, is] of finished) {
  test(`${is ? 'finished' : 'not finished'}: ${law}`, () => {
    assert.equal(isFinished(certificateRequest({ conditions })), is);
  });
}

test('finished: a request with a certificate, whatever its conditions are', () => {
  assert.ok(isFinished({ ...request, status: { conditions: [APPROVED], certificate: 'LS0t' } }));
});

test('where anchors are not known the status has no ca: the CRD takes no empty one', () => {
  const { status } = withIssued(certificateRequest(), { chain: 'leaf\n', anchors: '' }, NOW);
  assert.ok(status !== undefined && !('ca' in status) && status.certificate !== undefined);
});
