// SPDX-License-Identifier: Apache-2.0
/** ADR 0022: what is refused of a cross-certificate before it is signed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeCrossTbs } from '#ca/issuance/cross-certificate.ts';
import { CROSS_RULES, lint } from '#ca/issuance/lint/index.ts';
import { decodeTbs, type TbsCertificate } from '#pki/x509/certificate.ts';
import {
  basicConstraints,
  extKeyUsage,
  keyUsage,
  subjectAltName,
  type Extension,
} from '#pki/extensions/encode-extensions.ts';
import {
  OID_BASIC_CONSTRAINTS,
  OID_CLIENT_AUTH,
  OID_KEY_USAGE,
  OID_SUBJECT_KEY_IDENTIFIER,
} from '#pki/der/oids.ts';
import { encodeTbs } from '#pki/x509/encode-certificate.ts';
import { openAuthority, random } from '../../support/ca/issuing.ts';

const [old, next] = [await openAuthority(), await openAuthority()];
const issuer = old.facts;
const of = next.facts.certificate;
const good = decodeTbs(encodeCrossTbs({ of, issuer, random }));

/** The good one, with other extensions or another beginning and end. */
function tbs(
  extensions: readonly Extension[] = good.extensions,
  times: { readonly notBefore?: number; readonly notAfter?: number } = {},
): TbsCertificate {
  return decodeTbs(
    encodeTbs({
      serial: good.serial,
      signatureAlgorithm: issuer.signatureAlgorithm,
      issuer: issuer.subject,
      notBefore: good.notBefore,
      notAfter: good.notAfter,
      subject: of.subject.raw,
      spki: of.publicKey.spki,
      extensions,
      ...times,
    }),
  );
}

const but = (oid: string, ...others: readonly Extension[]): readonly Extension[] => [
  ...good.extensions.filter((each) => each.oid !== oid),
  ...others,
];
const loose = (oid: string): readonly Extension[] =>
  good.extensions.map((each) => (each.oid === oid ? { ...each, critical: false } : each));
const names = { dnsNames: ['a.example'], ipAddresses: [], uris: [], emails: [] };

test('a cross-certificate between two CAs breaks no rule', () => {
  assert.doesNotThrow(() => lint(good, issuer, CROSS_RULES));
});

const faults: readonly (readonly [law: string, cross: TbsCertificate, finding: RegExp])[] = [
  ['no CA', tbs(but(OID_BASIC_CONSTRAINTS, basicConstraints({ ca: false }))), /not a CA/],
  [
    'a CA that certifies as many CAs as it likes',
    tbs(but(OID_BASIC_CONSTRAINTS, basicConstraints({ ca: true }))),
    /path length 0/,
  ],
  [
    'a CA that certifies CAs',
    tbs(but(OID_BASIC_CONSTRAINTS, basicConstraints({ ca: true, pathLen: 1 }))),
    /path length 0/,
  ],
  ['one that verifiers may overlook', tbs(loose(OID_BASIC_CONSTRAINTS)), /not critical/],
  ['usages that they may', tbs(loose(OID_KEY_USAGE)), /not critical/],
  ['any usage', tbs(but(OID_KEY_USAGE)), /key usages/],
  ['no leaves', tbs(but(OID_KEY_USAGE, keyUsage(['cRLSign']))), /key usages/],
  [
    'more usages',
    tbs(but(OID_KEY_USAGE, keyUsage(['digitalSignature', 'keyCertSign', 'cRLSign']))),
    /key usages/,
  ],
  [
    'a purpose',
    tbs([...good.extensions, extKeyUsage([OID_CLIENT_AUTH])]),
    /is not allowed in a cross-certificate/,
  ],
  [
    'a name',
    tbs([...good.extensions, subjectAltName(names, false)]),
    /is not allowed in a cross-certificate/,
  ],
  ['no key identifier', tbs(but(OID_SUBJECT_KEY_IDENTIFIER)), /subject key identifier/],
  ['a longer life', tbs(undefined, { notAfter: issuer.notAfter + 1_000 }), /outlives its CA/],
  [
    'an earlier beginning',
    tbs(undefined, { notBefore: issuer.notBefore - 1_000 }),
    /begins before its CA/,
  ],
  ['another issuer', { ...good, issuer: { ...good.issuer, raw: of.tbs } }, /byte for byte/],
];

for (const [law, cross, finding] of faults) {
  test(`refused before it is signed: ${law}`, () => {
    assert.throws(
      () => lint(cross, issuer, CROSS_RULES),
      (error: Error) => {
        assert.match(error.message, finding);
        return true;
      },
    );
  });
}
