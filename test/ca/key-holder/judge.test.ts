// SPDX-License-Identifier: Apache-2.0
/** A key holder signs a leaf within its limits, and refuses everything else by name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeCaTbs } from '#ca/issuance/ca-tbs.ts';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import { encodeLeafTbs, type LeafTbsInput } from '#ca/issuance/leaf.ts';
import { readHolderConfiguration, type KeyUse } from '#ca/key-holder/configuration.ts';
import { judgeCrl, judgeLeaf, type CrlInput } from '#ca/key-holder/judge.ts';
import { encodeTbsList } from '#ca/revocation/encode-list.ts';
import type { WantedList } from '#ca/revocation/wanted-list.ts';
import {
  authorityKeyIdentifier,
  basicConstraints,
  crlDistributionPoints,
  encodeExtension,
  extKeyUsage,
  keyUsage,
  subjectAltName,
  subjectKeyIdentifier,
  subjectKeyIdentifierOf,
  type Extension,
} from '#pki/extensions/encode-extensions.ts';
import { OID_CLIENT_AUTH, OID_CODE_SIGNING, OID_SUBJECT_ALT_NAME } from '#pki/der/oids.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import { encodeTbs, type TbsFields } from '#pki/x509/encode-certificate.ts';
import { holderFile, LEAF_LIMITS } from '../../support/ca/held.ts';
import { leafInput, NOW, openAuthority, random } from '../../support/ca/issuing.ts';
import { explicit, implicit, oid, rdn, seq, utf8, tlv } from '../../support/pki/der.ts';
import { privateKey, spkiOf } from '../../support/pki/keys.ts';
import { ED25519 } from '../../support/pki/request-der.ts';

const authority = await openAuthority();
const other = await openAuthority();
const ca = authority.facts;
const SECOND = 1000;
const HOUR = 3_600_000;

function useOf(use: object): KeyUse {
  const file = readHolderConfiguration(holderFile('/x', undefined, { ...use }), 'x');
  return file.sockets[0]?.uses[0] ?? assert.fail();
}
const { leaf: limits = assert.fail() } = useOf({ leaf: LEAF_LIMITS });

const ofLeaf = (more: Partial<LeafTbsInput> = {}): Uint8Array =>
  encodeLeafTbs({ ...leafInput(authority), ...more });

function reasonOf(tbs: Uint8Array, within = limits): string {
  const { refusal } = judgeLeaf({ tbs, ca, limits: within, now: NOW });
  return refusal?.reason ?? 'signed';
}

test('a leaf within the limits is signed', () => {
  assert.equal(reasonOf(ofLeaf()), 'signed');
});

const SPKI = spkiOf(privateKey('P-256', 'leaf'));
const URIS = { dnsNames: [], ipAddresses: [], emails: [] };
const SANS = { ...URIS, uris: ['spiffe://cluster.local/ns/team-a/sa/web'] };
const EXTENSIONS: Readonly<Record<string, Extension>> = {
  bits: keyUsage(['digitalSignature']),
  purposes: extKeyUsage([OID_CLIENT_AUTH]),
  constraints: basicConstraints({ ca: false }),
  subjectKey: subjectKeyIdentifier(SPKI),
  authorityKey: authorityKeyIdentifier(ca.keyIdentifier),
  sans: subjectAltName(SANS, true),
};

const FIELDS = {
  serial: new Uint8Array(16).fill(0x41),
  signatureAlgorithm: ca.signatureAlgorithm,
  issuer: ca.subject,
  notBefore: NOW,
  notAfter: NOW + HOUR,
  subject: seq(),
  spki: SPKI,
};

/** A leaf by its fields, with some extensions replaced, added or left out (undefined). */
function byHand(
  extensions: Readonly<Record<string, Extension | undefined>> = {},
  fields: Partial<TbsFields> = {},
): Uint8Array {
  const all = Object.values({ ...EXTENSIONS, ...extensions });
  return encodeTbs({
    ...FIELDS,
    extensions: all.filter((each) => each !== undefined),
    ...fields,
  });
}

test('a leaf that is written by hand is signed', () => {
  assert.equal(reasonOf(byHand()), 'signed');
});

const caTbs = (more: object): Uint8Array =>
  encodeCaTbs({
    issuer: ca,
    subject: encodeName({ commonName: 'Sub', organizations: [], organizationalUnits: [] }),
    spki: SPKI,
    pathLen: 0,
    notBefore: NOW,
    notAfter: NOW + HOUR,
    random,
    ...more,
  });

const named = (value: string): Uint8Array => seq(rdn('2.5.4.3', utf8(value)));
const unknown = (critical: boolean): Extension => ({
  oid: '1.2.3.4',
  critical,
  value: seq(oid('1.2.3')),
});

/** Adds an issuerUniqueID, which decoders skip, before the extensions. */
function withUniqueId(): Uint8Array {
  const fields = encodeTbs({ ...FIELDS, extensions: [] }).subarray(3);
  const extensions = explicit(3, seq(...Object.values(EXTENSIONS).map(encodeExtension)));
  return seq(fields, implicit(1, [0, 1]), extensions);
}

/** An authority key identifier with an issuer and a serial, whose contents decoders skip. */
function longAuthorityKey(): Extension {
  const { oid, critical } = EXTENSIONS['authorityKey'] ?? assert.fail();
  const parts = [implicit(0, [...ca.keyIdentifier]), explicit(1, named('x')), implicit(2, [9])];
  return { oid, critical, value: seq(...parts) };
}

/** Encodes the length of the whole with one byte too many. */
function longLength(): Uint8Array {
  const whole = ofLeaf();
  assert.equal(whole[1], 0x82);
  return Uint8Array.of(0x30, 0x83, 0, ...whole.subarray(2));
}

const otherName: Extension = {
  oid: OID_SUBJECT_ALT_NAME,
  critical: true,
  value: seq(tlv(0x86, Buffer.from(SANS.uris[0] ?? '')), tlv(0xa4, named('x'))),
};

const REFUSED: readonly (readonly [what: string, reason: string, tbs: Uint8Array])[] = [
  ['a CA with path length 0', 'basic-constraints-end-entity', caTbs({})],
  [
    'a CA without a path length',
    'basic-constraints-end-entity',
    byHand({ constraints: basicConstraints({ ca: true }) }),
  ],
  [
    'a cross-certificate of another CA',
    'basic-constraints-end-entity',
    caTbs({ spki: other.facts.certificate.publicKey.spki, subject: other.facts.subject }),
  ],
  ['keyCertSign', 'usage-present', byHand({ bits: keyUsage(['keyCertSign']) })],
  ['cRLSign', 'usage-present', byHand({ bits: keyUsage(['digitalSignature', 'cRLSign']) })],
  ['a second longer than the limit', 'longest-life', byHand({}, { notAfter: NOW + HOUR + SECOND })],
  ['a start in the future', 'latest-start', byHand({}, { notBefore: NOW + 301 * SECOND })],
  ['the end of the CA', 'validity-inside-issuer', byHand({}, { notAfter: ca.notAfter + SECOND })],
  ['the issuer of another key', 'issuer-name-matches', byHand({}, { issuer: named('Other') })],
  ['an empty issuer', 'issuer-name-matches', byHand({}, { issuer: seq() })],
  [
    'the key identifier of another CA',
    'key-identifiers',
    byHand({ authorityKey: authorityKeyIdentifier(other.facts.keyIdentifier) }),
  ],
  ['no authority key identifier', 'key-identifiers', byHand({ authorityKey: undefined })],
  [
    'the subject key identifier of another key',
    'subject-key-identifier',
    byHand({ subjectKey: subjectKeyIdentifierOf(ca.keyIdentifier) }),
  ],
  [
    'a URI of another trust domain',
    'allowed-names',
    byHand({ sans: subjectAltName({ ...URIS, uris: ['spiffe://other/ns/a/sa/b'] }, true) }),
  ],
  [
    'a DNS name, of which none is allowed',
    'allowed-names',
    byHand({ sans: subjectAltName({ ...SANS, dnsNames: ['web.example'] }, true) }),
  ],
  [
    'an IP address, of which none is allowed',
    'allowed-names',
    byHand({ sans: subjectAltName({ ...SANS, ipAddresses: ['10.0.0.1'] }, true) }),
  ],
  [
    'an email address, of which none is allowed',
    'allowed-names',
    byHand({ sans: subjectAltName({ ...SANS, emails: ['a@b.example'] }, true) }),
  ],
  [
    'a common name, of which none is allowed',
    'allowed-names',
    byHand({}, { subject: named('web') }),
  ],
  [
    'a subject attribute of another kind',
    'allowed-names',
    byHand({}, { subject: seq(rdn('2.5.4.6', tlv(0x13, Buffer.from('DE')))) }),
  ],
  ['a directory name', 'allowed-names', byHand({ sans: otherName })],
  ['a reserved name', 'reserved-names', byHand({}, { subject: named('system:masters') })],
  [
    'a purpose that is not allowed',
    'allowed-usages',
    byHand({ purposes: extKeyUsage([OID_CODE_SIGNING]) }),
  ],
  ['no extended key usage', 'allowed-usages', byHand({ purposes: undefined })],
  ['no key usage', 'allowed-usages', byHand({ bits: undefined })],
  [
    'an issuer and a serial in the authority key identifier',
    'canonical-der',
    byHand({ authorityKey: longAuthorityKey() }),
  ],
  ['an unknown critical extension', 'known-extensions-only', byHand({ more: unknown(true) })],
  ['an unknown extension', 'known-extensions-only', byHand({ more: unknown(false) })],
  [
    'distribution points that no limit lists',
    'allowed-distribution-points',
    byHand({ crl: crlDistributionPoints(['http://evil.example/x.crl']) }),
  ],
  ['the algorithm of another key', 'algorithm-agrees', byHand({}, { signatureAlgorithm: ED25519 })],
  [
    'a key of a type that is not allowed',
    'allowed-key',
    ofLeaf({ publicKey: leafInput(authority).publicKey, ...rsa2048() }),
  ],
  ['a length of too many bytes', 'der-malformed', longLength()],
  ['trailing bytes', 'der-malformed', Uint8Array.of(...ofLeaf(), 0)],
  ['a unique identifier, which decoders skip', 'canonical-der', withUniqueId()],
  ['a serial number of few bits', 'serial-positive', byHand({}, { serial: Uint8Array.of(1) })],
  ['nothing', 'der-malformed', new Uint8Array()],
  ['a hash instead of the bytes', 'der-malformed', new Uint8Array(32).fill(7)],
  ['more bytes than a leaf has', 'too-large', new Uint8Array(65_537)],
];

function rsa2048(): Partial<LeafTbsInput> {
  const spki = spkiOf(privateKey('RSA-2048'));
  return { publicKey: { spki, algorithm: 'RSA', bits: 2048, keyType: 'RSA2048', bytes: spki } };
}

for (const [what, reason, tbs] of REFUSED) {
  test(`refuses ${what}: ${reason}`, () => {
    assert.equal(reasonOf(tbs), reason);
  });
}

test('refuses a start long ago: earliest-start', () => {
  const judged = judgeLeaf({ tbs: byHand(), ca, limits, now: NOW + 601 * SECOND });
  assert.equal(judged.refusal?.reason, 'earliest-start');
});

test('allows names, networks and distribution points that the limits list', () => {
  const { leaf = assert.fail() } = useOf({
    leaf: {
      maxDuration: '1h',
      names: { dnsNames: ['[a-z]+[.]example'], ipAddresses: ['10.0.0.0/8'], commonNames: ['w.*'] },
      crlUrls: ['http://crl.example/a.crl'],
    },
  });
  const crl = crlDistributionPoints(['http://crl.example/a.crl']);
  const named1 = { ...URIS, uris: [], dnsNames: ['web.example'], ipAddresses: ['10.1.2.3'] };
  const good = byHand({ sans: subjectAltName(named1, false), crl }, { subject: named('web') });
  assert.equal(reasonOf(good, leaf), 'signed');
  for (const wrong of [{ dnsNames: ['web.example.org'] }, { ipAddresses: ['11.0.0.1'] }]) {
    const sans = subjectAltName({ ...named1, ...wrong }, false);
    assert.equal(reasonOf(byHand({ sans }, { subject: named('web') }), leaf), 'allowed-names');
  }
});

test('a DNS name in capitals is not canonical, whatever the pattern says', () => {
  const { leaf = assert.fail() } = useOf({
    leaf: { maxDuration: '1h', names: { dnsNames: ['.*'] } },
  });
  const sans = subjectAltName({ ...URIS, uris: [], dnsNames: ['WEB.example'] }, true);
  assert.equal(reasonOf(byHand({ sans }), leaf), 'allowed-names');
});

test('the message lists every broken rule, and nothing of the key', () => {
  const { refusal } = judgeLeaf({ tbs: caTbs({ notAfter: NOW + 2 * HOUR }), ca, limits, now: NOW });
  assert.match(refusal?.message ?? '', /basic-constraints-end-entity: .*longest-life: /);
});

const WANTED: WantedList = {
  issuer: ca,
  number: 12n,
  thisUpdate: NOW,
  nextUpdate: NOW + HOUR,
  revoked: [],
};
const crlUse = useOf({ crl: { maxValidity: '1h' } }).crl ?? assert.fail();
const judge = (wanted: Partial<WantedList>, more: Partial<CrlInput> = {}): string => {
  const tbs = encodeTbsList({ ...WANTED, ...wanted });
  const input = { tbs, ca, limits: crlUse, lastNumber: 11n, now: NOW, ...more };
  return judgeCrl(input).refusal?.reason ?? 'signed';
};

test('a CRL of the CA with a higher number is signed', () => {
  assert.equal(judge({}), 'signed');
  assert.equal(judge({}, { lastNumber: undefined }), 'signed');
});

const WRONG_LISTS: readonly (readonly [
  what: string,
  reason: string,
  wanted: Partial<WantedList>,
])[] = [
  ['the number of the last CRL', 'higher-number', { number: 11n }],
  ['a lower number', 'higher-number', { number: 3n }],
  [
    'a number that uses up those before it',
    'number-within-clock',
    { number: BigInt(NOW / 1000) + 3600n },
  ],
  ['nextUpdate after the limit', 'longest-life', { nextUpdate: NOW + HOUR + SECOND }],
  ['thisUpdate long ago', 'earliest-start', { thisUpdate: NOW - 601 * SECOND, nextUpdate: NOW }],
  ['thisUpdate in the future', 'latest-start', { thisUpdate: NOW + 301 * SECOND }],
  ['another issuer', 'issuer-name-matches', { issuer: { ...ca, subject: named('Other') } }],
  [
    'another key',
    'key-identifiers',
    { issuer: { ...ca, keyIdentifier: other.facts.keyIdentifier } },
  ],
  ['another algorithm', 'algorithm-agrees', { issuer: { ...ca, signatureAlgorithm: ED25519 } }],
];

for (const [what, reason, wanted] of WRONG_LISTS) {
  test(`refuses a CRL with ${what}: ${reason}`, () => {
    assert.equal(judge(wanted), reason);
  });
}

test('a leaf is no CRL, and a CRL is no leaf', () => {
  assert.equal(reasonOf(encodeTbsList(WANTED)), 'der-malformed');
  assert.equal(judge({}, { tbs: ofLeaf() }), 'der-malformed');
});

test('refuses a CRL with an issuer and a serial in its authority key identifier', () => {
  const tbs = Buffer.from(encodeTbsList(WANTED));
  const [short, long] = [authorityKeyIdentifier(ca.keyIdentifier), longAuthorityKey()].map((each) =>
    Buffer.from(encodeExtension(each)),
  );
  assert.ok(short !== undefined && long !== undefined);
  const at = tbs.indexOf(short);
  assert.ok(at > 0);
  const extensions = seq(long, tbs.subarray(at + short.length));
  // SEQUENCE and [0] before the extensions have two bytes of header each.
  const fields = tbs.subarray(tbs[1] === 0x81 ? 3 : tbs[1] === 0x82 ? 4 : 2, at - 4);
  assert.equal(judge({}, { tbs: seq(fields, explicit(0, extensions)) }), 'der-malformed');
  assert.equal(
    judge({}, { tbs: seq(fields, explicit(0, seq(short, tbs.subarray(at + short.length)))) }),
    'signed',
  );
});

test('an input of one changed byte is refused, or is a leaf within the limits', () => {
  const good = ofLeaf();
  for (let at = 0; at < good.length; at++) {
    for (const bit of [0x01, 0x20, 0x80]) {
      const changed = Uint8Array.from(good);
      changed[at] = (changed[at] ?? 0) ^ bit;
      const judged = judgeLeaf({ tbs: changed, ca, limits, now: NOW });
      if (judged.refusal !== undefined) continue;
      const { document } = judged;
      assert.ok(!document.isCa && document.notAfter - document.notBefore <= HOUR);
      assert.equal(Buffer.compare(document.issuer.raw, ca.subject), 0);
      assert.match(document.sans.uris[0] ?? '', /^spiffe:\/\/cluster[.]local\/ns\/[a-z-]+\/sa/);
    }
  }
});

test('EMPTY_SUBJECT alone has no name, so no leaf has none', () => {
  assert.equal(reasonOf(ofLeaf({ subject: EMPTY_SUBJECT })), 'san-for-empty-subject');
});
