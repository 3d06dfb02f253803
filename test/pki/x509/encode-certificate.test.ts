// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate, createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodeCertificate, decodeTbs } from '#pki/x509/certificate.ts';
import {
  authorityKeyIdentifier,
  basicConstraints,
  extKeyUsage,
  keyUsage,
  subjectAltName,
  subjectKeyIdentifier,
} from '#pki/extensions/encode-extensions.ts';
import { keyIdentifier } from '#pki/keys/public-key.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { verifySignature } from '#pki/keys/signature-verification.ts';
import { encodeCertificate, encodeTbs } from '#pki/x509/encode-certificate.ts';
import { privateKey, spkiOf, type TestKey } from '../../support/pki/keys.ts';
import { leafFields, nameParts, toExtensions } from '../../support/pki/leaf-fields.ts';
import { pkijsExtensions, pkijsTbs } from '../../support/pki/pkijs-encoding.ts';
import { KEY_USAGE_BITS } from '#pki/extensions/usages.ts';

/** Of keys that a leaf or a CA may have. */
const KINDS = [
  'P-256',
  'P-384',
  'P-521',
  'Ed25519',
  'RSA-2048',
  'RSA-3072',
  'RSA-4096',
  'ML-DSA-65',
] as readonly TestKey[];

const ALGORITHM = signatureAlgorithm(privateKey('P-256')).der;
const kind = fc.constantFrom(...KINDS);

describe('encodeTbs', () => {
  test('writes what pkijs writes, byte for byte', () => {
    fc.assert(
      fc.property(leafFields, kind, kind, (fields, own, issuers) => {
        const spki = spkiOf(privateKey(own));
        const algorithm = signatureAlgorithm(privateKey(issuers)).der;
        const ours = encodeTbs({
          ...fields,
          signatureAlgorithm: algorithm,
          issuer: encodeName(fields.issuer),
          subject: encodeName(fields.subject),
          spki,
          extensions: toExtensions(fields, spki),
        });
        const theirs = pkijsTbs({
          ...fields,
          signatureAlgorithm: algorithm,
          spki,
          extensions: pkijsExtensions({ ...fields, subjectKeyId: keyIdentifier(spki) }),
        });
        assert.equal(Buffer.from(ours).toString('hex'), Buffer.from(theirs).toString('hex'));
      }),
      { numRuns: 300 },
    );
  });

  test('is the inverse of decodeTbs', () => {
    fc.assert(
      fc.property(leafFields, (fields) => {
        const spki = spkiOf(privateKey('P-256'));
        const extensions = toExtensions(fields, spki);
        const decoded = decodeTbs(
          encodeTbs({
            ...fields,
            signatureAlgorithm: ALGORITHM,
            issuer: encodeName(fields.issuer),
            subject: encodeName(fields.subject),
            spki,
            extensions,
          }),
        );
        assert.equal(
          BigInt(`0x${Buffer.from(decoded.serial).toString('hex')}`),
          BigInt(`0x${Buffer.from(fields.serial).toString('hex')}`),
        );
        assert.equal(decoded.notBefore, fields.notBefore);
        assert.equal(decoded.notAfter, fields.notAfter);
        assert.deepEqual(
          decoded.subject.attributes.map(({ value }) => value),
          [
            ...fields.subject.organizations,
            ...fields.subject.organizationalUnits,
            ...(fields.subject.commonName === '' ? [] : [fields.subject.commonName]),
          ],
        );
        assert.deepEqual(decoded.sans, { ...fields.sans, other: 0 });
        assert.deepEqual([...(decoded.keyUsage ?? [])], fields.bits);
        assert.deepEqual(decoded.extKeyUsage, fields.extKeyUsage);
        assert.deepEqual(decoded.publicKey.spki, spki);
        assert.equal(decoded.isCa, fields.ca);
        assert.equal(decoded.pathLen, fields.pathLen);
        assert.deepEqual(
          decoded.extensions.map(({ oid, critical }) => [oid, critical]),
          extensions.map(({ oid, critical }) => [oid, critical]),
        );
      }),
      { numRuns: 200 },
    );
  });

  test('writes UTCTime up to 2049 and GeneralizedTime from 2050 (RFC 5280 §4.1.2.5)', () => {
    const border = Date.UTC(2050, 0, 1);
    const der = Buffer.from(
      encodeTbs({
        serial: Uint8Array.of(1),
        signatureAlgorithm: ALGORITHM,
        issuer: encodeName(nameParts('a')),
        notBefore: border - 1000,
        notAfter: border,
        subject: encodeName(nameParts('b')),
        spki: spkiOf(privateKey('P-256')),
        extensions: [],
      }),
    );
    assert.ok(der.includes(Buffer.from('\u0017\u000d491231235959Z\u0018\u000f20500101000000Z')));
    assert.deepEqual([decodeTbs(der).notBefore, decodeTbs(der).notAfter], [border - 1000, border]);
    assert.deepEqual(decodeTbs(der).extensions, []);
  });
});

describe('an assembled certificate', () => {
  for (const kind of KINDS) {
    test(`is read by node:crypto with the intended values, signed with ${kind}`, () => {
      const key = privateKey(kind);
      const spki = spkiOf(key);
      const algorithm = signatureAlgorithm(key);
      const name = encodeName(nameParts('CA, with "signs" = é'));
      const tbs = encodeTbs({
        serial: Uint8Array.of(0x40, 1, 2, 3),
        signatureAlgorithm: algorithm.der,
        issuer: name,
        notBefore: Date.UTC(2026, 0, 1),
        notAfter: Date.UTC(2051, 0, 1),
        subject: name,
        spki,
        extensions: [
          keyUsage(['digitalSignature', 'keyCertSign']),
          extKeyUsage(['1.3.6.1.5.5.7.3.1']),
          basicConstraints({ ca: true, pathLen: 0 }),
          subjectKeyIdentifier(spki),
          authorityKeyIdentifier(keyIdentifier(spki)),
          subjectAltName(
            {
              dnsNames: ['*.example.com'],
              ipAddresses: ['10.0.0.1', '2001:db8::1'],
              uris: ['spiffe://x/ns/a'],
              emails: ['a@example.com'],
            },
            false,
          ),
        ],
      });
      const der = encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs));
      const theirs = new X509Certificate(der);
      assert.equal(theirs.verify(theirs.publicKey), true);
      assert.equal(theirs.serialNumber, '40010203');
      assert.equal(theirs.subject, 'CN=CA\\, with \\"signs\\" = é');
      assert.equal(theirs.ca, true);
      assert.equal(theirs.validFromDate.getTime(), Date.UTC(2026, 0, 1));
      assert.equal(theirs.validToDate.getTime(), Date.UTC(2051, 0, 1));
      assert.equal(
        theirs.subjectAltName,
        'DNS:*.example.com, email:a@example.com, IP Address:10.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1, URI:spiffe://x/ns/a',
      );
      assert.deepEqual(theirs.keyUsage, ['1.3.6.1.5.5.7.3.1']);
      const ours = decodeCertificate(der);
      assert.equal(
        verifySignature(ours.publicKey, ours.signatureAlgorithm, ours.tbs, ours.signature),
        true,
      );
      assert.deepEqual(ours.raw, der);
      assert.deepEqual(ours.tbs, tbs);
    });
  }
});

describe('extensions', () => {
  test('key identifiers are the SHA-1 of the key bits alone (RFC 5280 §4.2.1.2)', () => {
    const spki = spkiOf(privateKey('P-256'));
    const point = spki.subarray(spki.length - 65);
    assert.deepEqual(Buffer.from(keyIdentifier(spki)), createHash('sha1').update(point).digest());
  });

  test('every set of key usage bits has its DER encoding', () => {
    fc.assert(
      fc.property(fc.subarray([...KEY_USAGE_BITS], { minLength: 1 }), (bits) => {
        const { value } = keyUsage(bits);
        const shown = [...value.subarray(3)].map((octet) => octet.toString(2).padStart(8, '0'));
        const used = shown.join('').slice(0, shown.length * 8 - (value[2] ?? 0));
        assert.deepEqual(
          bits,
          KEY_USAGE_BITS.filter((_, i) => used[i] === '1'),
        );
        assert.equal(used.at(-1), '1');
      }),
    );
  });

  test('CA:FALSE is an empty SEQUENCE: DER does not write defaults', () => {
    assert.deepEqual([...basicConstraints({ ca: false }).value], [0x30, 0x00]);
    assert.deepEqual([...basicConstraints({ ca: true }).value], [0x30, 0x03, 0x01, 0x01, 0xff]);
    assert.deepEqual(
      [...basicConstraints({ ca: true, pathLen: 0 }).value],
      [0x30, 0x06, 0x01, 0x01, 0xff, 0x02, 0x01, 0x00],
    );
  });
});
