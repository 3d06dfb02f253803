// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateAll } from '#conformance/case.ts';
import { CR_CASES } from '#conformance/certificaterequest/cases.ts';
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import { crVersion } from '#conformance/certificaterequest/version.ts';
import { readIssuerRef } from '#conformance/certificaterequest/snapshot.ts';
import { CR_BROKEN } from '../support/conformance/cr-broken.ts';
import { goodCrSnapshot, ready } from '../support/conformance/cr-snapshot.ts';

test('a conforming issuer passes every case', () => {
  const wrong = evaluateAll(CR_CASES, goodCrSnapshot()).filter(({ outcome }) => outcome !== 'pass');
  assert.deepEqual(wrong, []);
});

for (const { id, asserts, evaluate: judge } of CR_CASES) {
  test(`${id} fails for a signer that breaks it: ${asserts}`, () => {
    const broken = CR_BROKEN[id];
    assert.ok(broken !== undefined, `${id} is never seen to fail`);
    assert.equal(judge(broken).outcome, 'fail', judge(broken).evidence);
  });
}

test('an issuer is named by kind, group and name', () => {
  assert.deepEqual(readIssuerRef('ClusterSigner.countersign.dev/workload'), {
    kind: 'ClusterSigner',
    group: 'countersign.dev',
    name: 'workload',
  });
  for (const wrong of ['example.com/workload/x', 'workload', 'ClusterSigner/workload', '']) {
    assert.equal(readIssuerRef(wrong), undefined, wrong);
  }
});

const states: [what: string, status: CertificateRequest['status'], state: string][] = [
  ['nothing yet', {}, 'pending'],
  ['Ready=False, Pending', { conditions: [ready('False', 'Pending')] }, 'pending'],
  ['Approved', { conditions: [{ type: 'Approved', status: 'True' }] }, 'approved'],
  ['Denied', { conditions: [{ type: 'Denied', status: 'True' }] }, 'denied'],
  ['Ready=False, Failed', { conditions: [ready('False', 'Failed')] }, 'failed'],
  ['InvalidRequest', { conditions: [{ type: 'InvalidRequest', status: 'True' }] }, 'failed'],
  ['a certificate', { certificate: 'YQ==', conditions: [ready('True', 'Issued')] }, 'issued'],
];

for (const [what, status = {}, state] of states) {
  test(`with ${what} a CertificateRequest is ${state}`, () => {
    const request = {
      apiVersion: 'cert-manager.io/v1',
      kind: 'CertificateRequest',
      metadata: { name: 'a', uid: 'a', resourceVersion: '1', creationTimestamp: '' },
      spec: { request: '', issuerRef: { name: 'a' } },
      status,
    };
    assert.equal(crVersion(request, 0).state, state);
  });
}
