// SPDX-License-Identifier: Apache-2.0
/**
 * The to-be-signed bytes of leaves and CAs, against pkijs: what a profile can make, byte for byte.
 * Names, usages and keys go to pkijs by tables of the tests, not through src.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { selfSignedTbs } from '#ca/issuance/ca-certificate.ts';
import { encodeLeafTbs } from '#ca/issuance/leaf.ts';
import { encodeName, type NameParts } from '#pki/names/distinguished-name.ts';
import { type KeyUsage, LEAF_USAGES, type LeafSubject } from '#base/vocabulary.ts';
import { NULL, oid, seq } from '../../support/pki/der.ts';
import { publicKeyInfo } from '../../support/ca/issuing.ts';
import { privateKey, spkiOf, type TestKey } from '../../support/pki/keys.ts';
import { bitString, name, nameParts, sans, second } from '../../support/pki/leaf-fields.ts';
import { pkijsExtensions, pkijsTbs } from '../../support/pki/pkijs-encoding.ts';
import { MEANINGS } from '../../support/pki/usage-oids.ts';
import { KEY_USAGE_BITS, type KeyUsageBit } from '#pki/extensions/usages.ts';

const LEAF_KEYS = [
  'P-256',
  'P-384',
  'P-521',
  'Ed25519',
  'RSA-2048',
  'RSA-3072',
  'RSA-4096',
] as readonly TestKey[];

/** What each kind of CA signs under: RFC 5758 §3.2, RFC 8410 §3, RFC 4055 §5, RFC 9881 §3. */
const ALGORITHMS: Readonly<Record<string, Uint8Array>> = {
  'P-256': seq(oid('1.2.840.10045.4.3.2')),
  'P-384': seq(oid('1.2.840.10045.4.3.3')),
  'P-521': seq(oid('1.2.840.10045.4.3.4')),
  Ed25519: seq(oid('1.3.101.112')),
  RSA: seq(oid('1.2.840.113549.1.1.11'), NULL),
  'ML-DSA-65': seq(oid('2.16.840.1.101.3.4.3.18')),
};

/** What a key of this kind cannot do: RFC 3279 §2.3.1, RFC 5480 §3, RFC 9295 §3. */
function cannot(kind: TestKey): readonly KeyUsageBit[] {
  if (kind.startsWith('RSA')) return ['keyAgreement', 'encipherOnly', 'decipherOnly'];
  const encipher = ['keyEncipherment', 'dataEncipherment'] as const;
  if (kind !== 'Ed25519') return encipher;
  return [...encipher, 'keyAgreement', 'encipherOnly', 'decipherOnly'];
}

/** In the order of Go's x509.ExtKeyUsage, by which kube-controller-manager sorts. */
const PURPOSES = [...new Set(Object.values(MEANINGS).filter((each) => each.includes('.')))];

/**
 * Octets of the subjectPublicKey: SEC 1 §2.3.3, RFC 8410 §4, RFC 8017 appendix A.1.1, FIPS 204
 * table 2.
 */
const KEY_OCTETS: Partial<Record<TestKey, number>> = {
  'P-256': 65,
  'P-384': 97,
  'P-521': 133,
  Ed25519: 32,
  'RSA-2048': 270,
  'RSA-3072': 398,
  'RSA-4096': 526,
  'ML-DSA-65': 1952,
};

/** RFC 5280 §4.2.1.2, method 1. */
function keyIdentifierOf(kind: TestKey): Buffer {
  const bits = spkiOf(privateKey(kind)).subarray(-(KEY_OCTETS[kind] ?? 0));
  return createHash('sha1').update(bits).digest();
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const noNames = { dnsNames: [], ipAddresses: [], uris: [], emails: [] };
const subject: fc.Arbitrary<LeafSubject> = fc
  .record({
    who: fc.oneof(name, fc.constant(nameParts(''))),
    names: fc.oneof(sans, fc.constant(noNames)),
  })
  .map(({ who, names }) => ({ ...who, ...names }));
const usages = fc.subarray([...LEAF_USAGES]);

test('a leaf equals what pkijs writes: keys, usages, names, flags, times around 2050', () => {
  fc.assert(
    fc.property(
      fc.record({
        subject,
        usages,
        kind: fc.constantFrom(...LEAF_KEYS),
        algorithm: fc.constantFrom(...Object.values(ALGORITHMS)),
        issuer: name,
        keyIdentifier: fc.uint8Array({ minLength: 1, maxLength: 32 }),
        notBefore: second,
        notAfter: second,
        dice: fc.uint8Array({ minLength: 16, maxLength: 16 }),
      }),
      ({ kind, algorithm, issuer, keyIdentifier, notBefore, notAfter, dice, ...leaf }) => {
        const ours = encodeLeafTbs({
          ...leaf,
          publicKey: publicKeyInfo(privateKey(kind)),
          issuer: {
            fingerprint: '',
            subject: encodeName(issuer),
            keyIdentifier,
            signatureAlgorithm: algorithm,
            notBefore: 0,
            notAfter: 0,
          },
          validity: { notBefore, notAfter },
          random: () => dice,
        });
        const theirs = pkijsTbs({
          // Positive, with as many octets whatever the dice say.
          serial: Uint8Array.of(0x40 | ((dice[0] ?? 0) & 0x3f), ...dice.subarray(1)),
          signatureAlgorithm: algorithm,
          issuer,
          notBefore,
          notAfter,
          subject: nameOf(leaf.subject),
          spki: spkiOf(privateKey(kind)),
          extensions: pkijsExtensions({
            ...meaningOf(leaf.usages, kind),
            ca: false,
            subjectKeyId: keyIdentifierOf(kind),
            authorityKeyId: keyIdentifier,
            sans: leaf.subject,
            // RFC 5280 §4.2.1.6.
            sansCritical: isEmpty(nameOf(leaf.subject)),
          }),
        });
        assert.equal(hex(ours), hex(theirs));
      },
    ),
    { numRuns: 500 },
  );
});

function meaningOf(
  wanted: readonly KeyUsage[],
  kind: TestKey,
): { keyUsage: ReturnType<typeof bitString>; extKeyUsage: readonly string[] } {
  const meant = new Set(wanted.map((usage) => MEANINGS[usage]));
  const bits = KEY_USAGE_BITS.filter((bit) => meant.has(bit) && !cannot(kind).includes(bit));
  return {
    keyUsage: bitString(bits),
    extKeyUsage: PURPOSES.filter((purpose) => meant.has(purpose)),
  };
}

function nameOf({ commonName, organizations, organizationalUnits }: LeafSubject): NameParts {
  return { commonName, organizations, organizationalUnits };
}

function isEmpty({ commonName, organizations, organizationalUnits }: NameParts): boolean {
  return commonName === '' && organizations.length === 0 && organizationalUnits.length === 0;
}

test('a managed CA equals what pkijs writes', () => {
  const commonName = name.filter((each) => each.commonName !== '').map((each) => each.commonName);
  const kinds = Object.keys(ALGORITHMS);
  fc.assert(
    fc.property(
      fc.record({
        kind: fc.constantFrom(...kinds),
        commonName,
        now: second,
        durationSeconds: fc.integer({ min: 1, max: 100 * 366 * 24 * 3600 }),
        pathLen: fc.constantFrom(0 as const, 1 as const),
        dice: fc.uint8Array({ minLength: 16, maxLength: 16 }),
      }),
      ({ kind, commonName: text, now, durationSeconds, pathLen, dice }) => {
        const start = now / 1000;
        // Neither before 1950 nor after 9999: no certificate can say such a time.
        fc.pre(now - 300_000 >= Date.UTC(1950, 0, 1));
        fc.pre((start + durationSeconds) * 1000 < Date.UTC(10_000, 0, 1));
        const key = (kind === 'RSA' ? 'RSA-3072' : kind) as TestKey;
        const spki = spkiOf(privateKey(key));
        const algorithm = ALGORITHMS[kind] ?? new Uint8Array();
        const ours = selfSignedTbs({
          commonName: text,
          durationSeconds,
          pathLen,
          now,
          spki,
          signatureAlgorithm: algorithm,
          random: () => dice,
        });
        const own = nameParts(`${text} ${start}`);
        const identifier = keyIdentifierOf(key);
        const theirs = pkijsTbs({
          serial: Uint8Array.of(0x40 | ((dice[0] ?? 0) & 0x3f), ...dice.subarray(1)),
          signatureAlgorithm: algorithm,
          issuer: own,
          notBefore: now - 300_000,
          notAfter: now + durationSeconds * 1000,
          subject: own,
          spki,
          extensions: pkijsExtensions({
            keyUsage: bitString(['keyCertSign', 'cRLSign']),
            extKeyUsage: [],
            ca: true,
            pathLen,
            subjectKeyId: identifier,
            authorityKeyId: identifier,
            sans: noNames,
            sansCritical: false,
          }),
        });
        assert.equal(hex(ours), hex(theirs));
      },
    ),
    { numRuns: 200 },
  );
});
