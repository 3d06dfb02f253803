// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodeCertificate, fingerprint } from '#pki/x509/certificate.ts';
import { encodePem } from '#pki/der/pem.ts';
import { anchorFingerprints, readAnchors, writeAnchors } from '#pki/x509/trust-bundle.ts';
import { certificateDer, named } from '../../support/pki/certificate-der.ts';
import { TRUE, extension, octets, seq, utcTime } from '../../support/pki/der.ts';
import { refuses } from '../../support/pki/refuses.ts';

const CA = extension('2.5.29.19', seq(TRUE), true);

/** A CA that begins in this year; `padding` makes it large. */
function caDer(year: number, name = 'ca', padding = 0): Uint8Array {
  const filler = padding === 0 ? [] : [extension('1.2.3', octets(new Uint8Array(padding)))];
  return certificateDer({
    subject: named(name),
    validity: seq(utcTime(`${year % 100}0101000000Z`), utcTime('490101000000Z')),
    extensions: [CA, ...filler],
  });
}

const pem = (...ders: readonly Uint8Array[]): string =>
  ders.map((der) => encodePem('CERTIFICATE', der)).join('');
const prints = (text: string): readonly string[] =>
  readAnchors(text).map(({ raw }) => fingerprint(raw));

const OLD = caDer(2024);
const NEW = caDer(2026);
const TWIN = caDer(2026, 'twin');

test('anchors are read in order, without duplicates', () => {
  assert.deepEqual(prints(pem(OLD, NEW, OLD, NEW)), [OLD, NEW].map(fingerprint));
});

test('a text without anchors gives none', () => {
  assert.deepEqual(readAnchors(''), []);
  assert.deepEqual(readAnchors('\n \n'), []);
});

describe('anchors are refused', () => {
  const leaf = certificateDer();
  const rows: Readonly<
    Record<
      string,
      readonly [string, 'CERTIFICATE_MALFORMED' | 'PEM_MALFORMED' | 'DER_MALFORMED', RegExp]
    >
  > = {
    'when one is not a CA': [pem(OLD, leaf), 'CERTIFICATE_MALFORMED', /"CN=subject" is not a CA/],
    'when one is a key': [pem(OLD) + encodePem('PRIVATE KEY', OLD), 'PEM_MALFORMED', /PRIVATE KEY/],
    'with PEM headers': [pem(OLD).replace('\n', '\nA: b\n\n'), 'PEM_MALFORMED', /headers/],
    'with two certificates in one block': [
      pem(Buffer.concat([OLD, NEW])),
      'DER_MALFORMED',
      /trailing/,
    ],
    'with dashes between them': [`${pem(OLD)}-----\n${pem(NEW)}`, 'PEM_MALFORMED', /five dashes/],
  };
  for (const [name, [text, code, message]] of Object.entries(rows)) {
    test(name, () => refuses(() => readAnchors(text), code, message));
  }
});

test('anchors are written newest first, then by fingerprint, without duplicates', () => {
  const text = writeAnchors(readAnchors(pem(OLD, NEW, TWIN, OLD)));
  const twins = [NEW, TWIN].map(fingerprint).sort();
  assert.deepEqual(prints(text), [...twins, fingerprint(OLD)]);
});

test('the same anchors in any order give the same text', () => {
  const anchors = [OLD, NEW, TWIN, caDer(2025)].map((der) => decodeCertificate(der));
  const text = writeAnchors(anchors);
  fc.assert(
    fc.property(fc.shuffledSubarray(anchors, { minLength: anchors.length }), (shuffled) => {
      assert.equal(writeAnchors(shuffled), text);
      assert.equal(writeAnchors(readAnchors(text)), text);
    }),
  );
});

test('more than a ClusterTrustBundle may hold is not written', () => {
  const large = [1, 2, 3, 4, 5, 6].map((n) => decodeCertificate(caDer(2026, `n${n}`, 150_000)));
  refuses(() => writeAnchors(large), 'CERTIFICATE_MALFORMED', /1048576/, 'wait');
});

test('a served text that cannot be read counts as serving no anchors', () => {
  const leaf = certificateDer();
  assert.deepEqual(anchorFingerprints(pem(OLD, NEW)), new Set([OLD, NEW].map(fingerprint)));
  for (const text of ['', 'x', pem(OLD, leaf), pem(OLD).slice(0, -9)]) {
    assert.deepEqual(anchorFingerprints(text), new Set());
  }
});

test('the anchors of a text do not depend on texts read earlier', () => {
  for (let n = 0; n < 200; n++) {
    assert.equal(anchorFingerprints(`${'\n'.repeat(n)}${pem(OLD)}`).size, 1);
  }
  assert.deepEqual(anchorFingerprints(pem(NEW)), new Set([fingerprint(NEW)]));
  assert.deepEqual(anchorFingerprints(pem(OLD)), new Set([fingerprint(OLD)]));
});
