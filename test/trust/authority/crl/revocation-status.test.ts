// SPDX-License-Identifier: Apache-2.0
/** The condition Listed of a Revocation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Revocation, RevocationSpec } from '#api/revocation/revocation.ts';
import type { CertificateList } from '#pki/x509/certificate-list.ts';
import { revocationStatus } from '#trust/authority/crl/revocation-status.ts';

const CA = `sha256:${'1a'.repeat(32)}`;
const OTHER = `sha256:${'2b'.repeat(32)}`;
const NOW = Date.UTC(2026, 10, 29);
const list = {
  number: 7n,
  revoked: [{ serial: Uint8Array.of(0xa1) }],
} as unknown as CertificateList;

/** Returns the status of a Revocation after a CRL of one CA lists the serial number a1. */
function statusOf(
  certificates: RevocationSpec['certificates'],
): ReturnType<typeof revocationStatus> {
  const spec = {
    signerName: 'example.com/workload',
    reason: 'keyCompromise',
    certificates,
  } as const;
  const metadata = { name: 'revoked', uid: '1' } as Revocation['metadata'];
  const revocation = { apiVersion: 'countersign.dev/v1alpha1', kind: 'Revocation', metadata, spec };
  return revocationStatus(
    revocation,
    [
      { fingerprint: OTHER, list: { ...list, revoked: [] } },
      { fingerprint: CA, list },
    ],
    NOW,
  );
}

test('Listed tells which certificates are on the CRL of a CA that may not be theirs', () => {
  const [named] = statusOf([{ serial: 'a1', authority: CA }])?.conditions ?? [];
  assert.deepEqual(
    [named?.status, named?.message],
    ['True', 'every certificate is on the CRL of its CA'],
  );
  const mixed = [{ serial: 'a1', authority: CA }, { serial: 'a1' }];
  for (const certificates of [[{ serial: 'a1' }], mixed]) {
    const [vague] = statusOf(certificates)?.conditions ?? [];
    assert.equal(vague?.status, 'True');
    assert.match(
      vague.message ?? '',
      /without spec\.certificates.* at least one CA .* may still accept/,
    );
  }
  const [lost] = statusOf([{ serial: 'a1', authority: OTHER }])?.conditions ?? [];
  assert.deepEqual([lost?.status, lost?.reason], ['False', 'AuthorityUnknown']);
});
