// SPDX-License-Identifier: Apache-2.0
/** The condition Listed of a Revocation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '#api/object/time.ts';
import type { Revocation, RevocationSpec } from '#api/revocation/revocation.ts';
import type { CertificateList } from '#pki/x509/certificate-list.ts';
import { revocationStatus } from '#trust/authority/crl/revocation-status.ts';

const CA = `sha256:${'1a'.repeat(32)}`;
const OTHER = `sha256:${'2b'.repeat(32)}`;
/** A CA whose first CRL cannot be signed. */
const UNSIGNED = `sha256:${'3c'.repeat(32)}`;
const LOST = `sha256:${'4d'.repeat(32)}`;
const NOW = Date.UTC(2026, 10, 29);
const list = {
  number: 7n,
  revoked: [{ serial: Uint8Array.of(0xa1) }],
} as unknown as CertificateList;

/** Returns the status of a Revocation after a CRL of one CA lists the serial number a1. */
function statusOf(
  certificates: RevocationSpec['certificates'],
  reason?: string,
): ReturnType<typeof revocationStatus> {
  const spec = {
    signerName: 'example.com/workload',
    reason: 'keyCompromise',
    certificates,
  } as const;
  const metadata = { name: 'revoked', uid: '1' } as Revocation['metadata'];
  const condition = { type: 'Listed', status: 'False', message: 'why' } as const;
  const before = { ...condition, lastTransitionTime: formatTime(NOW), reason: reason ?? '' };
  const revocation: Revocation = {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'Revocation',
    metadata,
    spec,
    status: reason === undefined ? {} : { conditions: [before] },
  };
  return revocationStatus(
    revocation,
    {
      lists: [
        { fingerprint: OTHER, list: { ...list, revoked: [] } },
        { fingerprint: CA, list },
      ],
      held: new Set([CA, OTHER, UNSIGNED]),
    },
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
});

for (const [what, reason, certificates] of [
  ['lost its key', 'AuthorityUnknown', [{ serial: 'a1', authority: LOST }]],
  ['cannot sign its CRL', 'CrlNotSigned', [{ serial: 'a1', authority: OTHER }]],
  ['cannot sign its first CRL', 'CrlNotSigned', [{ serial: 'a1', authority: UNSIGNED }]],
  ['is not named and cannot sign its CRL', 'CrlNotSigned', [{ serial: 'b2' }]],
] satisfies [string, string, RevocationSpec['certificates']][])
  test(`of a CA that ${what}, Listed has the reason ${reason}`, () => {
    for (const before of [undefined, 'Earlier']) {
      const [condition] = statusOf(certificates, before)?.conditions ?? [];
      assert.deepEqual([condition?.status, condition?.reason], ['False', reason]);
    }
    assert.equal(statusOf(certificates, reason), undefined);
  });

test('Listed counts no certificate of another CA among those of a CA without a key', () => {
  const both = [LOST, UNSIGNED].map((authority) => ({ serial: 'a1', authority }));
  const [condition] = statusOf(both)?.conditions ?? [];
  assert.equal(condition?.reason, 'AuthorityUnknown');
  assert.match(condition.message ?? '', /^1 of the certificates/);
});
