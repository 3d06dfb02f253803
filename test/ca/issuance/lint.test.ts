// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEAF_RULES, lint } from '#ca/issuance/lint/index.ts';
import { decodeTbs, type TbsCertificate } from '#pki/x509/certificate.ts';
import {
  authorityKeyIdentifier,
  basicConstraints,
  extKeyUsage,
  keyUsage,
  subjectAltName,
  subjectKeyIdentifier,
  type Extension,
} from '#pki/extensions/encode-extensions.ts';
import { OID_CLIENT_AUTH, OID_SUBJECT_ALT_NAME } from '#pki/der/oids.ts';
import { encodeTbs, type TbsFields } from '#pki/x509/encode-certificate.ts';
import { ED25519 } from '../../support/pki/request-der.ts';
import { oid, printable, rdn, seq, utf8 } from '../../support/pki/der.ts';
import { openAuthority, NOW } from '../../support/ca/issuing.ts';
import { privateKey, spkiOf, type TestKey } from '../../support/pki/keys.ts';
import { refuses } from '../../support/pki/refuses.ts';

const { facts: issuer } = await openAuthority();
const spki = spkiOf(privateKey('P-256'));
const sans = { dnsNames: ['web.example'], ipAddresses: [], uris: [], emails: [] };
const name = (value: Uint8Array): Uint8Array => seq(rdn('2.5.4.3', value));

const keyUsages = keyUsage(['digitalSignature']);
const purposes = extKeyUsage([OID_CLIENT_AUTH]);
const constraints = basicConstraints({ ca: false });
const subjectKey = subjectKeyIdentifier(spki);
const authorityKey = authorityKeyIdentifier(issuer.keyIdentifier);
const names = subjectAltName(sans, false);
const extensions = [keyUsages, purposes, constraints, subjectKey, authorityKey, names];

/** Nothing is wrong with it. */
const good: TbsFields = {
  serial: new Uint8Array(16).fill(0x41),
  signatureAlgorithm: issuer.signatureAlgorithm,
  issuer: issuer.subject,
  notBefore: NOW,
  notAfter: NOW + 3_600_000,
  subject: name(utf8('web')),
  spki,
  extensions,
};

const tbs = (fault: Partial<TbsFields> = {}): TbsCertificate =>
  decodeTbs(encodeTbs({ ...good, ...fault }));

/** The good extensions without this one, and with those. */
const but = (without: Extension, ...others: readonly Extension[]): Partial<TbsFields> => ({
  extensions: [...extensions.filter((each) => each !== without), ...others],
});

/** A key of another kind, with what a leaf says of it. */
const keyed = (kind: TestKey, ...bits: Parameters<typeof keyUsage>[0]): Partial<TbsFields> => {
  const other = spkiOf(privateKey(kind));
  const changed = extensions.map((each) => (each === keyUsages ? keyUsage(bits) : each));
  return { spki: other, extensions: changed };
};

test('a good leaf breaks no rule', () => {
  assert.doesNotThrow(() => lint(tbs(), issuer, LEAF_RULES));
});

/** One fault each: the rule that finds it, and it alone. */
const vectors: [rule: string, law: string, leaf: TbsCertificate, finding: RegExp][] = [
  [
    'serial-positive',
    'twenty octets leave no room for a sign',
    tbs({ serial: new Uint8Array(20).fill(0x41) }),
    /has 20 octets/,
  ],
  [
    'serial-positive',
    'eight octets are less than 64 random bits',
    tbs({ serial: new Uint8Array(8).fill(0x41) }),
    /too few random bits/,
  ],
  [
    'serial-positive',
    'negative',
    { ...tbs(), serial: new Uint8Array(16).fill(0x81) },
    /is negative/,
  ],
  [
    'algorithm-agrees',
    'the inner algorithm of another key',
    tbs({ signatureAlgorithm: ED25519 }),
    /not the one that the CA signs with/,
  ],
  ['issuer-name-matches', 'another name', tbs({ issuer: name(utf8('somebody')) }), /byte for byte/],
  ['issuer-name-matches', 'no name', tbs({ issuer: seq() }), /is empty/],
  [
    'whole-seconds',
    'an end that is not after the beginning',
    tbs({ notAfter: NOW }),
    /notAfter is not later/,
  ],
  ['whole-seconds', 'milliseconds', { ...tbs(), notBefore: NOW + 1 }, /fraction of a second/],
  [
    'validity-inside-issuer',
    'a second longer than the CA',
    tbs({ notAfter: issuer.notAfter + 1000 }),
    /outlives its CA/,
  ],
  [
    'validity-inside-issuer',
    'a second earlier than the CA',
    tbs({ notBefore: issuer.notBefore - 1000 }),
    /begins before its CA/,
  ],
  [
    'known-extensions-only',
    'one that no leaf of ours has',
    tbs(but(names, names, { oid: '1.2.3.4.5', critical: false, value: seq(oid('1.2.3')) })),
    /1\.2\.3\.4\.5 is not allowed/,
  ],
  [
    'known-extensions-only',
    'the same twice',
    { ...tbs(), extensions: [...extensions, names] },
    /occurs twice/,
  ],
  [
    'known-extensions-only',
    'an empty one',
    {
      ...tbs(),
      extensions: [
        ...(but(names).extensions ?? []),
        { oid: OID_SUBJECT_ALT_NAME, critical: false, value: seq() },
      ],
    },
    /2\.5\.29\.17 is empty/,
  ],
  [
    'basic-constraints-end-entity',
    'CA:TRUE',
    tbs(but(constraints, basicConstraints({ ca: true }))),
    /the leaf is a CA/,
  ],
  ['basic-constraints-end-entity', 'a path length', { ...tbs(), pathLen: 0 }, /has a path length/],
  ['basic-constraints-end-entity', 'missing', tbs(but(constraints)), /are missing/],
  [
    'basic-constraints-end-entity',
    'not critical',
    tbs(but(constraints, { ...constraints, critical: false })),
    /critical basicConstraints are missing/,
  ],
  ['key-identifiers', 'no subject key identifier', tbs(but(subjectKey)), /subject key .* missing/],
  [
    'key-identifiers',
    'no authority key identifier',
    tbs(but(authorityKey)),
    /authority .* missing/,
  ],
  [
    'key-identifiers',
    'the identifier of another CA',
    tbs(but(authorityKey, authorityKeyIdentifier(new Uint8Array(20)))),
    /is not the CA’s/,
  ],
  [
    'usage-present',
    'no usage at all',
    tbs({ extensions: [constraints, subjectKey, authorityKey, names] }),
    /may be used for nothing/,
  ],
  [
    'usage-present',
    'keyUsage that a verifier may overlook',
    tbs(but(keyUsages, { ...keyUsages, critical: false })),
    /keyUsage is not critical/,
  ],
  [
    'usage-present',
    'signing certificates',
    tbs(but(keyUsages, keyUsage(['digitalSignature', 'keyCertSign']))),
    /may sign certificates or CRLs/,
  ],
  [
    'usage-present',
    'signing CRLs',
    tbs(but(keyUsages, keyUsage(['cRLSign']))),
    /may sign certificates or CRLs/,
  ],
  [
    'key-usage-fits-key',
    'an ECDSA key that shall encipher (RFC 5480 §3)',
    tbs(keyed('P-256', 'digitalSignature', 'keyEncipherment', 'dataEncipherment')),
    /keyEncipherment and dataEncipherment cannot be done with an ECDSA key/,
  ],
  [
    'key-usage-fits-key',
    'an Ed25519 key that shall agree on keys (RFC 9295 §3)',
    tbs(keyed('Ed25519', 'digitalSignature', 'keyAgreement')),
    /keyAgreement cannot be done with an ED25519 key/,
  ],
  [
    'key-usage-fits-key',
    'an RSA key that shall agree on keys (RFC 3279 §2.3.1)',
    tbs(keyed('RSA-2048', 'digitalSignature', 'keyAgreement')),
    /keyAgreement cannot be done with an RSA key/,
  ],
  [
    'key-usage-fits-key',
    'an ML-DSA key that shall encipher (RFC 9881 §5)',
    tbs(keyed('ML-DSA-65', 'digitalSignature', 'keyEncipherment')),
    /keyEncipherment cannot be done with an MLDSA65 key/,
  ],
  [
    'san-for-empty-subject',
    'names nobody',
    tbs({ subject: seq(), ...but(names) }),
    /neither a subject nor/,
  ],
  [
    'san-for-empty-subject',
    'an empty subject with names that a verifier may overlook',
    tbs({ subject: seq() }),
    /not critical/,
  ],
];

for (const [rule, law, leaf, finding] of vectors) {
  test(`${rule}: ${law}`, () => {
    const found = LEAF_RULES.filter((each) => each.check(leaf, issuer) !== undefined);
    assert.deepEqual(
      found.map((each) => each.name),
      [rule],
    );
    refuses(() => lint(leaf, issuer, LEAF_RULES), 'LINT_FAILED', finding, 'wait');
  });
}

test('every rule has a failing vector and a source', () => {
  const covered = new Set(vectors.map(([rule]) => rule));
  assert.deepEqual(
    LEAF_RULES.map((each) => each.name),
    [...covered],
  );
  for (const { source } of LEAF_RULES) assert.match(source, /^(?:RFC \d+ §|design: )/);
});

test('issuer names are compared byte for byte (RFC 5280 §4.1.2.4)', () => {
  const written = { ...issuer, subject: name(utf8('Corp CA')) };
  const leaf = tbs({ issuer: name(printable('Corp CA')) });
  refuses(() => lint(leaf, written, LEAF_RULES), 'LINT_FAILED', /byte for byte/, 'wait');
});

test('key usages that suit the key type break no rule', () => {
  const allowed: Partial<TbsFields>[] = [
    keyed('RSA-2048', 'digitalSignature', 'keyEncipherment', 'dataEncipherment'),
    keyed('P-384', 'digitalSignature', 'keyAgreement', 'encipherOnly'),
    keyed('Ed25519', 'digitalSignature', 'nonRepudiation'),
  ];
  for (const fields of allowed) assert.doesNotThrow(() => lint(tbs(fields), issuer, LEAF_RULES));
});
