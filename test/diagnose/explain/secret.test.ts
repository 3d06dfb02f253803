// SPDX-License-Identifier: Apache-2.0
/** What `countersign explain secret/NAME` says, by what refers to the Secret. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Explanation } from '#diagnose/explain/explanation.ts';
import { explainSecret, type SecretUse } from '#diagnose/explain/secret.ts';

const part = (of: Partial<Explanation>): Explanation => ({
  object: 'certificaterequest/web-1',
  state: 'Denied',
  summary: 'an approver denied it',
  timeline: [],
  remediation: ['this is final'],
  ...of,
});
const secret = (use: Partial<SecretUse> = {}): SecretUse => ({
  name: 'web-tls',
  namespace: 'team-a',
  createdAt: '2026-01-01T00:00:00Z',
  signers: [],
  ...use,
});
const issued = part({ state: 'Issued', summary: 'it has its certificate' });

const CASES: readonly (readonly [string, SecretUse, Explanation['state'], RegExp])[] = [
  ['that nobody uses', secret(), 'NotUsed', /^no Certificate of cert-manager writes it/],
  ['that is not there', secret({ createdAt: undefined }), 'NotUsed', /^there is no Secret web-tls/],
  [
    'of a Certificate without a request',
    secret({ certificate: 'web' }),
    ...(['WaitingForComponent', /has no CertificateRequest/] as const),
  ],
  [
    'whose newest request was denied',
    secret({ certificate: 'web', request: part({}) }),
    ...(['Denied', /its newest request: an approver denied it$/] as const),
  ],
  ['that is written', secret({ certificate: 'web', request: issued }), 'Issued', /certificate$/],
  [
    'that cert-manager has not written yet',
    secret({ certificate: 'web', request: issued, createdAt: undefined }),
    ...(['WaitingForComponent', /^Secret web-tls does not exist/] as const),
  ],
  [
    'with the CA of a signer that is not ready',
    secret({ signers: [part({ state: 'NotReady', summary: 'SecretNotGranted' })] }),
    ...(['NotReady', /^it is for a CA: SecretNotGranted$/] as const),
  ],
];

for (const [what, use, state, summary] of CASES) {
  test(`a Secret ${what}: ${state}`, () => {
    const diagnosis = explainSecret(use);
    assert.equal(diagnosis.state, state);
    assert.match(diagnosis.summary, summary);
    assert.equal(
      diagnosis.parts?.length ?? 0,
      use.signers.length + (use.request === undefined ? 0 : 1),
    );
  });
}
