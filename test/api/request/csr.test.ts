// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isApproved,
  isFinished,
  withApproval,
  withCertificate,
  withFailed,
  type CertificateSigningRequest,
} from '#api/request/csr.ts';

const now = Date.UTC(2026, 10, 21, 6, 0, 0, 700);
const fresh: CertificateSigningRequest = Object.freeze({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'jane', uid: 'u', resourceVersion: '7', creationTimestamp: '' },
  spec: { request: '', signerName: 'example.com/people' },
});
const approve = { type: 'Approved', reason: 'RulesApproved', message: 'own-name' } as const;

test('an approval adds one True condition with both times, at the same resourceVersion', () => {
  const after = withApproval(fresh, approve, now);
  assert.equal(after.metadata.resourceVersion, '7');
  assert.deepEqual(after.status?.conditions, [
    {
      ...approve,
      status: 'True',
      lastUpdateTime: '2026-11-21T06:00:00Z',
      lastTransitionTime: '2026-11-21T06:00:00Z',
    },
  ]);
  assert.equal(isApproved(after), true);
  assert.equal(isApproved(fresh), false);
});

test('a denied, failed or issued request is finished; an approved one is not', () => {
  const approved = withApproval(fresh, approve, now);
  assert.equal(isFinished(approved), false);
  assert.equal(isFinished(withApproval(fresh, { ...approve, type: 'Denied' }, now)), true);
  assert.equal(isFinished(withFailed(approved, { reason: 'R', message: 'm' }, now)), true);
  assert.equal(isFinished(withCertificate(approved, 'PEM')), true);
  assert.equal(isFinished({ ...approved, status: { certificate: '' } }), false);
});

test('a condition has the reason and the message of a plan, and no other member of it', () => {
  const words = { reason: 'WeakKey', message: 'too short' };
  const plan = { ...words, kind: 'fail', faults: [words] };
  const time = '2026-11-21T06:00:00Z';
  const written = { ...words, status: 'True', lastUpdateTime: time, lastTransitionTime: time };
  const failed = withFailed(fresh, plan, now);
  assert.deepEqual(failed.status?.conditions, [{ ...written, type: 'Failed' }]);
  const denied = withApproval(fresh, { ...plan, type: 'Denied' }, now);
  assert.deepEqual(denied.status?.conditions, [{ ...written, type: 'Denied' }]);
});

test('a certificate is written as base64, and the conditions stay', () => {
  const approved = withApproval(fresh, approve, now);
  const issued = withCertificate(approved, '-----BEGIN');
  assert.equal(issued.status?.certificate, 'LS0tLS1CRUdJTg==');
  assert.equal(issued.status.conditions, approved.status?.conditions);
});
