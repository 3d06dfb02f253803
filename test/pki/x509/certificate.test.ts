// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate, createPublicKey } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SignerError, attempt } from '#base/errors.ts';
import { decodeCertificate, decodeTbs, fingerprint } from '#pki/x509/certificate.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { certificateDer } from '../../support/pki/certificate-der.ts';
import { ca, keyIds, link, purposes, san, usage } from '../../support/pki/chain.ts';
import {
  extension,
  implicit,
  seq,
  set,
  octets,
  oid,
  utf8,
  explicit,
} from '../../support/pki/der.ts';
import { privateKey, spkiOf } from '../../support/pki/keys.ts';
import {
  ECDSA_SHA256,
  RSA_SHA256,
  extensionRequest,
  requestDer,
} from '../../support/pki/request-der.ts';
import { refuses } from '../../support/pki/refuses.ts';

const full = certificateDer({
  extensions: [
    usage(),
    purposes('1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'),
    ca(1),
    ...keyIds('a', 'b'),
    san([2, 'a.example'], [7, [10, 0, 0, 1]], [6, 'spiffe://x/a'], [1, 'a@b.example'], [8, [42]]),
    extension('1.2.3.4', [1, 2, 3]),
  ],
});

describe('a decoded certificate', () => {
  const certificate = decodeCertificate(full);
  const theirs = new X509Certificate(full);

  test('has the values of its bytes', () => {
    assert.deepEqual(certificate.raw, full);
    assert.equal(Buffer.from(certificate.serial).toString('hex'), '7f01');
    assert.deepEqual(Buffer.from(certificate.signatureAlgorithm), Buffer.from(ECDSA_SHA256));
    assert.equal(certificate.notBefore, Date.UTC(2026, 0, 1));
    assert.equal(certificate.notAfter, Date.UTC(2027, 0, 1));
    assert.deepEqual(certificate.subject.attributes, [
      { oid: '2.5.4.3', value: 'subject', stringType: 'PrintableString' },
    ]);
    assert.deepEqual(
      certificate.issuer.attributes.map(({ value }) => value),
      ['issuer'],
    );
    assert.equal(certificate.isCa, true);
    assert.equal(certificate.pathLen, 1);
    assert.deepEqual([...(certificate.keyUsage ?? [])], ['keyCertSign', 'cRLSign']);
    assert.deepEqual(certificate.extKeyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
    assert.equal(certificate.subjectKeyIdentifier?.length, 20);
    assert.equal(certificate.authorityKeyIdentifier?.length, 20);
    assert.deepEqual(certificate.sans, {
      dnsNames: ['a.example'],
      ipAddresses: ['10.0.0.1'],
      uris: ['spiffe://x/a'],
      emails: ['a@b.example'],
      other: 1,
    });
    assert.deepEqual(certificate.unhandledCritical, []);
    assert.equal(certificate.extensions.length, 7);
  });

  test('has the values that node:crypto reads', () => {
    assert.equal(certificate.isCa, theirs.ca);
    assert.equal(certificate.notAfter, theirs.validToDate.getTime());
    assert.deepEqual(certificate.extKeyUsage, theirs.keyUsage);
    const theirKey = theirs.publicKey.export({ type: 'spki', format: 'der' });
    assert.deepEqual(Buffer.from(certificate.publicKey.spki), theirKey);
    assert.equal(
      fingerprint(full),
      `sha256:${theirs.fingerprint256.replaceAll(':', '').toLowerCase()}`,
    );
  });

  test('without extensions has no constraints and is not a CA', () => {
    const plain = decodeCertificate(certificateDer());
    assert.equal(plain.isCa, false);
    assert.equal(plain.keyUsage, undefined);
    assert.equal(plain.extKeyUsage, undefined);
    assert.equal(plain.nameConstraints, undefined);
    assert.deepEqual(plain.sans.dnsNames, []);
  });

  test('keeps names of CAs that would be refused in a request', () => {
    const subject = seq(
      set(seq(oid('2.5.4.10'), utf8('b')), seq(oid('2.5.4.11'), utf8('a'))),
      set(seq(oid('2.5.4.3'), utf8('x'))),
      set(seq(oid('2.5.4.3'), utf8('y'))),
    );
    const { certificate: decoded } = link('x', { subject });
    assert.deepEqual(decoded.subject.problems, [
      'a relative name with attributes of several types',
      'CN twice',
    ]);
    refuses(
      () => decodeRequest(requestDer({ subject })),
      'REQUEST_MALFORMED',
      /attributes of several types/,
    );
  });

  test('equals the one decoded from the to-be-signed part alone', () => {
    const { raw: _raw, tbs, signature: _signature, ...rest } = certificate;
    assert.deepEqual(decodeTbs(tbs), rest);
  });

  test('counts a critical subjectAltName of unmatched types as an unknown extension', () => {
    const value = seq(implicit(8, [42]));
    const der = certificateDer({ extensions: [extension('2.5.29.17', value, true)] });
    assert.deepEqual(decodeCertificate(der).unhandledCritical, ['2.5.29.17']);
  });

  test('accepts critical policies, which no path check requires, not policyConstraints', () => {
    const policies = extension('2.5.29.32', seq(seq(oid('1.2.3'))), true);
    const constraints = extension('2.5.29.36', seq(implicit(0, [0])), true);
    const der = certificateDer({ extensions: [policies, constraints] });
    assert.deepEqual(decodeCertificate(der).unhandledCritical, ['2.5.29.36']);
  });
});

describe('a certificate is refused', () => {
  test('whose two signature algorithms differ (RFC 5280 §4.1.1.2)', () => {
    const der = certificateDer({ innerAlgorithm: RSA_SHA256 });
    refuses(() => decodeCertificate(der), 'DER_MALFORMED', /signature algorithm.*differ/);
  });

  test('of version 1, which cannot exclude CA use', () => {
    const der = certificateDer({ version: [] });
    refuses(
      () => decodeCertificate(der),
      'DER_MALFORMED',
      /is of version 1, and must be of version 3/,
    );
  });

  test('with critical key identifiers (RFC 5280 §4.2.1.1)', () => {
    const critical = extension('2.5.29.14', octets([1]), true);
    refuses(
      () => decodeCertificate(certificateDer({ extensions: [critical] })),
      'DER_MALFORMED',
      /2\.5\.29\.14 is critical/,
    );
  });

  test('with a URI that parsers read differently', () => {
    for (const uri of ['//x', 'spiffe://x/../y', 'https://a@b/', 'https://a b/', 'x:%zz']) {
      refuses(
        () => decodeCertificate(certificateDer({ extensions: [san([6, uri])] })),
        'NAME_INVALID',
        /URI|SPIFFE/,
      );
    }
  });
});

/** Changes one byte, cuts a piece out, or doubles one. */
const mutation = fc.record({
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  octet: fc.nat(255),
  length: fc.nat(4),
  kind: fc.constantFrom('set', 'cut', 'double'),
});

function mutate(
  der: Uint8Array,
  changes: readonly (typeof mutation extends fc.Arbitrary<infer M> ? M : never)[],
): Uint8Array {
  let bytes = [...der];
  for (const { at, octet, length, kind } of changes) {
    const index = Math.floor(at * bytes.length);
    if (kind === 'set') bytes[index] = octet;
    else if (kind === 'cut') bytes.splice(index, length);
    else bytes = [...bytes.slice(0, index + length), ...bytes.slice(index)];
  }
  return Uint8Array.from(bytes);
}

describe('after any mutation of the bytes', () => {
  const changes = fc.array(mutation, { minLength: 1, maxLength: 3 });

  test('a certificate is refused with a code, or node:crypto reads it as well', () => {
    fc.assert(
      fc.property(changes, (list) => {
        const der = mutate(full, list);
        const decoded = attempt(() => decodeCertificate(der));
        if (decoded instanceof SignerError) {
          assert.equal(decoded.disposition, 'fail');
          return;
        }
        const theirs = new X509Certificate(der);
        assert.equal(theirs.ca, decoded.isCa);
        assert.equal(theirs.validToDate.getTime(), decoded.notAfter);
      }),
      { numRuns: 5000, seed: 42 },
    );
  });

  test('a request is refused with a code, or has a key that node:crypto reads as well', () => {
    const request = requestDer({
      subject: seq(set(seq(oid('2.5.4.3'), utf8('ünï')))),
      attributes: [extensionRequest(san([2, 'a.example']))],
    });
    fc.assert(
      fc.property(changes, (list) => {
        const decoded = attempt(() => decodeRequest(mutate(request, list)));
        if (decoded instanceof SignerError) return;
        const key = Buffer.from(decoded.publicKey.spki);
        createPublicKey({ key, format: 'der', type: 'spki' });
      }),
      { numRuns: 5000, seed: 42 },
    );
  });
});

test('certificates of one key and name are distinguished by their fingerprints', () => {
  const key = privateKey('P-256');
  const one = certificateDer({ key, spki: spkiOf(key) });
  const two = certificateDer({
    key,
    spki: spkiOf(key),
    extensions: [extension('1.2.3', explicit(0))],
  });
  assert.notEqual(fingerprint(one), fingerprint(two));
});
