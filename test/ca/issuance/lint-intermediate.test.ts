// SPDX-License-Identifier: Apache-2.0
/** What is refused of the CA certificate of another cluster before it is signed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  encodeIntermediateTbs,
  intermediateValidity,
  requireCertifiesCas,
} from '#ca/issuance/intermediate.ts';
import { prepare, prepareIntermediate } from '#ca/issuance/prepare.ts';
import { decodeTbs } from '#pki/x509/certificate.ts';
import {
  basicConstraints,
  extKeyUsage,
  keyUsage,
  nameConstraints,
  subjectAltName,
} from '#pki/extensions/encode-extensions.ts';
import {
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_BASIC_CONSTRAINTS,
  OID_CLIENT_AUTH,
  OID_KEY_USAGE,
  OID_NAME_CONSTRAINTS,
  OID_SUBJECT_ALT_NAME,
} from '#pki/der/oids.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import type { SubjectAltNames } from '#pki/names/general-names.ts';
import { changesOf, type Changed } from '../../support/ca/changed-tbs.ts';
import { openHub } from '../../support/ca/hub.ts';
import { NOW, leafInput, publicKeyInfo, random } from '../../support/ca/issuing.ts';
import { refuses } from '../../support/pki/refuses.ts';

const { authority } = await openHub();
const issuer = authority.facts;
const DAY_SECONDS = 24 * 3_600;
const validity = intermediateValidity({
  now: NOW,
  requestedSeconds: undefined,
  maxSeconds: 30 * DAY_SECONDS,
  issuer,
});
const publicKey = publicKeyInfo();
const wanted = {
  cluster: 'prod',
  commonName: 'Prod CA 1',
  publicKey,
  usages: ['cert sign', 'crl sign'],
  trustDomain: 'prod.fleet.example.com',
  isUriConstrained: true,
  dnsConstraints: ['prod.example.com'],
  validity,
  issuer,
  random,
};
const crlUrls = ['http://crl.example.com/hub.crl'];
const good = encodeIntermediateTbs({ ...wanted, crlUrls });
const read = decodeTbs(good);

test('the CA of a cluster breaks no rule, with and without constraints', () => {
  assert.doesNotThrow(() => prepareIntermediate(good, issuer));
  const free = { ...wanted, isUriConstrained: false, dnsConstraints: [] };
  const tbs = encodeIntermediateTbs(free);
  assert.doesNotThrow(() => prepareIntermediate(tbs, issuer));
  assert.equal(decodeTbs(tbs).nameConstraints, undefined);
});

test('the CA of a cluster has path length 0, its trust domain and its constraints', () => {
  assert.deepEqual([read.isCa, read.pathLen], [true, 0]);
  assert.deepEqual([...(read.keyUsage ?? [])].sort(), ['cRLSign', 'keyCertSign']);
  assert.deepEqual(read.sans.uris, ['spiffe://prod.fleet.example.com']);
  assert.deepEqual(read.nameConstraints, {
    permitted: [
      { kind: 'uri', text: 'prod.fleet.example.com' },
      { kind: 'dns', text: 'prod.example.com' },
    ],
    excluded: [],
    hasOther: false,
  });
});

test('a CA without crl sign signs no CRLs', () => {
  const tbs = encodeIntermediateTbs({ ...wanted, usages: ['cert sign'] });
  prepareIntermediate(tbs, issuer);
  assert.deepEqual([...(decodeTbs(tbs).keyUsage ?? [])], ['keyCertSign']);
});

const { changed, but, turned } = changesOf(good, publicKey.spki, issuer);
const NO_NAMES: SubjectAltNames = { dnsNames: [], ipAddresses: [], uris: [], emails: [] };
const permitting = (kind: 'uri' | 'dns' | 'email', text: string): Changed =>
  but(OID_NAME_CONSTRAINTS, nameConstraints({ permitted: [{ kind, text }], excluded: [] }));
const named = (names: Partial<SubjectAltNames>): Changed =>
  but(OID_SUBJECT_ALT_NAME, subjectAltName({ ...NO_NAMES, ...names }, false));

const rows: Readonly<Record<string, readonly [Changed, RegExp]>> = {
  'with path length 1': [
    but(OID_BASIC_CONSTRAINTS, basicConstraints({ ca: true, pathLen: 1 })),
    /intermediate-ca .*path length 0/,
  ],
  'without a path length': [
    but(OID_BASIC_CONSTRAINTS, basicConstraints({ ca: true })),
    /intermediate-ca .*path length 0/,
  ],
  'that is a leaf': [
    but(OID_BASIC_CONSTRAINTS, basicConstraints({ ca: false })),
    /intermediate-ca/,
  ],
  'whose key signs messages, too': [
    but(OID_KEY_USAGE, keyUsage(['keyCertSign', 'digitalSignature'])),
    /its key is for digitalSignature/,
  ],
  'whose key signs CRLs only': [but(OID_KEY_USAGE, keyUsage(['cRLSign'])), /signs no certificates/],
  'without key usages': [but(OID_KEY_USAGE), /signs no certificates/],
  'with loose basicConstraints': [turned(OID_BASIC_CONSTRAINTS), /2\.5\.29\.19 is not critical/],
  'with loose name constraints': [turned(OID_NAME_CONSTRAINTS), /2\.5\.29\.30 is not critical/],
  'with a purpose': [but('', extKeyUsage([OID_CLIENT_AUTH])), /2\.5\.29\.37 is not allowed/],
  'without the key of its CA': [but(OID_AUTHORITY_KEY_IDENTIFIER), /key-identifiers/],
  'without a trust domain': [but(OID_SUBJECT_ALT_NAME), /one-trust-domain/],
  'with the identity of a workload': [
    named({ uris: ['spiffe://prod.fleet.example.com/ns/a'] }),
    /one-trust-domain/,
  ],
  'with two trust domains': [
    named({ uris: ['spiffe://prod.fleet.example.com', 'spiffe://other.fleet.example.com'] }),
    /one-trust-domain/,
  ],
  'with a DNS name': [
    named({ uris: ['spiffe://prod.fleet.example.com'], dnsNames: ['a.example.com'] }),
    /one-trust-domain/,
  ],
  'that permits the URIs of another cluster': [
    permitting('uri', 'other.fleet.example.com'),
    /another trust domain/,
  ],
  'that permits every DNS name by an empty one': [permitting('dns', ''), /empty constraint/],
  'that permits email addresses': [permitting('email', 'example.com'), /other kinds/],
  'with excluded names': [
    but(
      OID_NAME_CONSTRAINTS,
      nameConstraints({ permitted: [], excluded: [{ kind: 'dns', text: 'a.example' }] }),
    ),
    /excluded names/,
  ],
  'that lives a second too long': [
    {
      notAfter:
        read.notBefore + Math.floor((issuer.notAfter - issuer.notBefore) / 6_000) * 1_000 + 1_000,
    },
    /sixth-of-issuer/,
  ],
  'without a cluster': [
    { subject: encodeName({ commonName: 'x', organizations: [], organizationalUnits: [] }) },
    /intermediate-subject/,
  ],
  'of two clusters': [
    {
      subject: encodeName({ commonName: 'x', organizations: ['a', 'b'], organizationalUnits: [] }),
    },
    /intermediate-subject/,
  ],
};

for (const [name, [fields, message]] of Object.entries(rows)) {
  test(`the CA of a cluster ${name} is refused`, () => {
    refuses(() => prepareIntermediate(changed(fields), issuer), 'LINT_FAILED', message, 'wait');
  });
}

test('a leaf is no CA of a cluster', async () => {
  const { authority: other } = await openHub({ certifiesCas: false });
  assert.doesNotThrow(() => prepare(leafInput(other)));
  const leaf = but(OID_BASIC_CONSTRAINTS, basicConstraints({ ca: false }));
  refuses(
    () => prepareIntermediate(changed(leaf), issuer),
    'LINT_FAILED',
    /intermediate-ca/,
    'wait',
  );
});

const lives: [law: string, requested: number | undefined, max: number, seconds: number][] = [
  ['without a wish the profile decides', undefined, 30 * DAY_SECONDS, 30 * DAY_SECONDS],
  ['a shorter wish is granted', 3_600, 30 * DAY_SECONDS, 3_600],
  ['a longer wish gets what the profile allows', 90 * DAY_SECONDS, DAY_SECONDS, DAY_SECONDS],
];

for (const [law, requestedSeconds, maxSeconds, seconds] of lives) {
  test(`life of an intermediate: ${law}`, () => {
    const found = intermediateValidity({ now: NOW, requestedSeconds, maxSeconds, issuer });
    assert.equal((found.notAfter - found.notBefore) / 1000, seconds);
  });
}

test('life of an intermediate: no profile exceeds a sixth of the life of the issuer', () => {
  const maxSeconds = 300 * DAY_SECONDS;
  const found = intermediateValidity({
    now: NOW,
    requestedSeconds: maxSeconds,
    maxSeconds,
    issuer,
  });
  const whole = issuer.notAfter - issuer.notBefore;
  assert.ok((found.notAfter - found.notBefore) * 6 <= whole);
  assert.ok((found.notAfter - found.notBefore + 1_000) * 6 > whole);
});

test('no intermediate outlives its issuer', () => {
  const late = issuer.notAfter - DAY_SECONDS * 1000;
  const maxSeconds = 30 * DAY_SECONDS;
  const found = intermediateValidity({
    now: late,
    requestedSeconds: undefined,
    maxSeconds,
    issuer,
  });
  assert.equal(found.notAfter, issuer.notAfter);
});

test('a CA of leaves certifies no CA', async () => {
  const { authority: strict } = await openHub({ certifiesCas: false });
  refuses(
    () => requireCertifiesCas(strict.facts, NOW),
    'PATH_INVALID',
    /pathLenConstraint of 0/,
    'authority',
  );
  assert.doesNotThrow(() => requireCertifiesCas(issuer, NOW));
});
