// SPDX-License-Identifier: Apache-2.0
/** No Revocation can stop a CRL: it would keep every later one off the list. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  MAX_REVOKED,
  readRevocation,
  type Revocation,
  type RevocationSpec,
} from '#api/revocation/revocation.ts';
import { formatTime } from '#api/object/time.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { serialText } from '#ca/revocation/serial.ts';
import type { RevokedCertificate } from '#pki/x509/certificate-list.ts';
import { decideLists, type CrlPlan } from '#trust/authority/crl/decide-lists.ts';
import { signDue } from '#trust/authority/crl/write.ts';
import { NOW } from '../../../support/pki/chain.ts';
import { workload } from '../../../support/signers/workload-profile.ts';
import { A, secret } from '../../../support/trust/ca-secrets.ts';

/** A Revocation that the schema takes. */
function revocationOf(more: Partial<RevocationSpec>): Revocation {
  return readRevocation({
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'Revocation',
    metadata: { name: 'stolen', uid: '1', creationTimestamp: formatTime(NOW) } as never,
    spec: {
      signerName: 'example.com/workload',
      reason: 'keyCompromise',
      certificates: [{ serial: 'a1' }],
      ...more,
    },
  });
}

function planOf(revocations: readonly Revocation[]): CrlPlan {
  return decideLists({
    signer: workload({}),
    crl: { validity: '24h' },
    secret: secret(A),
    configMap: undefined,
    revocations,
    open: openLocalAuthority,
    now: NOW,
  });
}

/** The entries of the CRL that is signed. */
function signedOf(...revocations: readonly Revocation[]): readonly RevokedCertificate[] {
  const { lists, faults } = signDue(planOf(revocations));
  assert.deepEqual(faults, []);
  return lists[0]?.list.revoked ?? [];
}

const SERIALS = ['0', '00', '0'.repeat(40), '7f', '80', '7f'.repeat(20), '80'.repeat(20)];

for (const serial of [...SERIALS, 'f'.repeat(39), 'f'.repeat(40)])
  test(`a CRL lists the serial number ${serial}`, () => {
    const [entry, ...more] = signedOf(revocationOf({ certificates: [{ serial }] }));
    assert.deepEqual(more, []);
    assert.equal(
      BigInt(`0x${serialText(entry?.serial ?? new Uint8Array())}`),
      BigInt(`0x${serial}`),
    );
  });

test('a CRL lists as many certificates as one Revocation names', () => {
  const certificates = Array.from({ length: MAX_REVOKED }, (_, index) => ({
    serial: (2n ** 160n - 1n - BigInt(index)).toString(16),
  }));
  assert.equal(signedOf(revocationOf({ certificates })).length, MAX_REVOKED);
});

for (const [revokedAt, listed] of [
  ['0000-01-01T00:00:00+23:59', '1950-01-01T00:00:00Z'],
  ['1949-12-31T23:59:59.999Z', '1950-01-01T00:00:00Z'],
  ['1950-01-01T00:00:00.999Z', '1950-01-01T00:00:00Z'],
  ['1969-12-31T23:59:59.5Z', '1969-12-31T23:59:59Z'],
  ['9999-12-31T23:59:59-23:59', formatTime(NOW)],
] as const)
  test(`a CRL lists what is revoked since ${revokedAt} since ${listed}`, () => {
    const [entry] = signedOf(revocationOf({ revokedAt }));
    assert.equal(formatTime(entry?.revokedAt ?? Number.NaN), listed);
  });

test('a CRL is decided with however many Revocations', () => {
  const [plan] = planOf(Array<Revocation>(300_000).fill(revocationOf({}))).lists;
  assert.ok(plan?.next.due);
});
