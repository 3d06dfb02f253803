// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { test } from 'node:test';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { AUTHORITY_KEY_TYPES, type AuthorityKeyType } from '#base/vocabulary.ts';
import { leafInput, random } from '../../support/ca/issuing.ts';

const NOW = Date.UTC(2026, 10, 21, 6, 30, 15, 987);
const SECOND = Math.floor(NOW / 1000);
const DAY = 24 * 3600;

const create = createManagedAuthorities(random);
const wanted = { commonName: 'Example workload CA', durationSeconds: 365 * DAY, now: NOW };
const made = async (
  keyType: AuthorityKeyType,
  now = NOW,
): Promise<Awaited<ReturnType<typeof create>>> => create({ ...wanted, keyType, now });

/** What node:crypto says of such a key; the signature's OID is by RFC 5758, 8410, 4055 and 9881. */
const KINDS: Readonly<
  Record<AuthorityKeyType, readonly [type: string, size: unknown, oid: string]>
> = {
  ECDSAP256: ['ec', 'prime256v1', '1.2.840.10045.4.3.2'],
  ECDSAP384: ['ec', 'secp384r1', '1.2.840.10045.4.3.3'],
  ECDSAP521: ['ec', 'secp521r1', '1.2.840.10045.4.3.4'],
  ED25519: ['ed25519', undefined, '1.3.101.112'],
  RSA3072: ['rsa', 3072, '1.2.840.113549.1.1.11'],
  RSA4096: ['rsa', 4096, '1.2.840.113549.1.1.11'],
  MLDSA65: ['ml-dsa-65', undefined, '2.16.840.1.101.3.4.3.18'],
};

for (const keyType of AUTHORITY_KEY_TYPES) {
  test(`${keyType}: a managed CA is self-signed, and its leaf verifies`, async () => {
    const material = await made(keyType);
    const ca = new X509Certificate(material.certificate);
    const [type, size, algorithm] = KINDS[keyType];
    const details = ca.publicKey.asymmetricKeyDetails;
    assert.equal(ca.publicKey.asymmetricKeyType, type);
    assert.equal(details?.namedCurve ?? details?.modulusLength, size);
    assert.equal(ca.signatureAlgorithmOid, algorithm);
    assert.ok(ca.checkPrivateKey(createPrivateKey(material.key)));
    assert.ok(ca.verify(ca.publicKey));
    assert.equal(ca.ca, true);
    assert.equal(ca.issuer, ca.subject);
    assert.equal(material.anchors, material.certificate);

    const decoded = decodeCertificate(ca.raw);
    assert.equal(decoded.pathLen, 0);
    assert.deepEqual([...(decoded.keyUsage ?? [])], ['keyCertSign', 'cRLSign']);
    assert.deepEqual(decoded.authorityKeyIdentifier, decoded.subjectKeyIdentifier);
    assert.deepEqual(
      decoded.extensions.map(({ oid, critical }) => [oid, critical]),
      [
        ['2.5.29.15', true],
        ['2.5.29.19', true],
        ['2.5.29.14', false],
        ['2.5.29.35', false],
      ],
    );

    const authority = openLocalAuthority(material, NOW);
    const validity = { notBefore: SECOND * 1000, notAfter: (SECOND + DAY) * 1000 };
    const prepared = prepare(leafInput(authority, { validity }));
    const leaf = new X509Certificate(await authority.sign(prepared, new AbortController().signal));
    assert.ok(leaf.verify(ca.publicKey));
    assert.ok(leaf.checkIssued(ca));
  });
}

test('a CA’s notBefore is five minutes ago, before backdated leaves; notAfter is set', async () => {
  const ca = new X509Certificate((await made('ECDSAP256')).certificate);
  assert.equal(ca.validFromDate.getTime(), (SECOND - 300) * 1000);
  assert.equal(ca.validToDate.getTime(), (SECOND + 365 * DAY) * 1000);
});

test('each generation has a subject, a serial number and a key of its own', async () => {
  const first = new X509Certificate((await made('ECDSAP256')).certificate);
  const second = new X509Certificate((await made('ECDSAP256', NOW + 1000)).certificate);
  assert.equal(first.subject, `CN=Example workload CA ${SECOND}`);
  assert.equal(second.subject, `CN=Example workload CA ${SECOND + 1}`);
  assert.notEqual(first.serialNumber, second.serialNumber);
  assert.ok(!first.publicKey.equals(second.publicKey));
});

test('the longest possible common name of a ClusterSigner fits (RFC 5280 appendix A.1)', async () => {
  const commonName = 'x'.repeat(52);
  const ca = await create({ ...wanted, keyType: 'ECDSAP256', commonName, now: 9_999_999_999_000 });
  const { subject } = new X509Certificate(ca.certificate);
  assert.ok(subject.slice('CN='.length).length <= 64, subject);
});

test('without randomness no CA is generated', async () => {
  const failing = createManagedAuthorities(() => {
    throw new Error('no entropy');
  });
  await assert.rejects(failing({ ...wanted, keyType: 'ECDSAP256' }), /no entropy/);
});
