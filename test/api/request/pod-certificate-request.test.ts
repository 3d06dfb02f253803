// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isTerminal,
  withDenied,
  withFailed,
  withIssued,
  type PodCertificateRequest,
} from '#api/request/pod-certificate-request.ts';

const now = Date.UTC(2026, 10, 21, 6, 0, 0, 700);
const fresh: PodCertificateRequest = Object.freeze({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'PodCertificateRequest',
  metadata: { name: 'r', namespace: 'n', uid: 'u', resourceVersion: '7', creationTimestamp: '' },
  spec: {
    signerName: 'example.com/workload',
    podName: 'p',
    podUID: 'pu',
    serviceAccountName: 's',
    serviceAccountUID: 'su',
    nodeName: 'n',
    nodeUID: 'nu',
  },
});

test('an issued request has the chain, whole-second times and only condition Issued', () => {
  const issued = withIssued(
    fresh,
    { chainPem: 'PEM', notBefore: now, beginRefreshAt: now + 3_600_000, notAfter: now + 7_200_000 },
    now,
  );
  assert.deepEqual(issued.status, {
    conditions: [
      {
        type: 'Issued',
        status: 'True',
        reason: 'Issued',
        message: '',
        lastTransitionTime: '2026-11-21T06:00:00Z',
      },
    ],
    certificateChain: 'PEM',
    notBefore: '2026-11-21T06:00:00Z',
    beginRefreshAt: '2026-11-21T07:00:00Z',
    notAfter: '2026-11-21T08:00:00Z',
  });
  assert.equal(isTerminal(issued), true);
  assert.equal(issued.metadata.resourceVersion, '7');
});

test('Denied and Failed carry one condition and nothing else', () => {
  const denied = withDenied(fresh, { reason: 'NotAllowed', message: 'm' }, now);
  assert.deepEqual(Object.keys(denied.status ?? {}), ['conditions']);
  assert.equal(denied.status?.conditions?.length, 1);
  assert.equal(isTerminal(denied), true);
  assert.equal(isTerminal(withFailed(fresh, { reason: 'R', message: 'm' }, now)), true);
});

test('a fresh request is not terminal', () => {
  assert.equal(isTerminal(fresh), false);
});
