// SPDX-License-Identifier: Apache-2.0
/** What is refused of the certificate of a planned CA before it is signed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeCaTbs } from '#ca/issuance/ca-tbs.ts';
import { prepareCa } from '#ca/issuance/prepare.ts';
import { decodeTbs } from '#pki/x509/certificate.ts';
import {
  basicConstraints,
  extKeyUsage,
  keyUsage,
  nameConstraints,
} from '#pki/extensions/encode-extensions.ts';
import {
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_BASIC_CONSTRAINTS,
  OID_CLIENT_AUTH,
  OID_KEY_USAGE,
  OID_NAME_CONSTRAINTS,
} from '#pki/der/oids.ts';
import { changesOf, type Changed } from '../../support/ca/changed-tbs.ts';
import { openAuthority, random } from '../../support/ca/issuing.ts';
import { privateKey, spkiOf } from '../../support/pki/keys.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import { refuses } from '../../support/pki/refuses.ts';

const issuer = (await openAuthority()).facts;
const subject = encodeName({
  commonName: 'Intermediate',
  organizations: [],
  organizationalUnits: [],
});
const spki = spkiOf(privateKey('P-256'));
const good = encodeCaTbs({
  issuer,
  subject,
  spki,
  notBefore: issuer.notBefore,
  notAfter: issuer.notAfter,
  pathLen: 0,
  constraints: { permitted: [{ kind: 'dns', text: 'example.com' }], excluded: [] },
  crlUrls: ['http://crl.example.com/root.crl'],
  random,
});
const read = decodeTbs(good);

test('a planned CA with constraints and the place of a CRL breaks no rule', () => {
  assert.doesNotThrow(() => prepareCa(good, issuer));
  assert.deepEqual(read.nameConstraints, {
    permitted: [{ kind: 'dns', text: 'example.com' }],
    excluded: [],
    hasOther: false,
  });
});

const { changed, but, turned } = changesOf(good, spki, issuer);
/** `[4]` directoryName, which no verifier here compares. */
const DIRECTORY = Buffer.from('300aa0083006a40430023000', 'hex');

const rows: Readonly<Record<string, readonly [Changed, RegExp]>> = {
  'without a path length': [
    but(OID_BASIC_CONSTRAINTS, basicConstraints({ ca: true })),
    /ca-with-path-length .*no path length/,
  ],
  'that is a leaf': [but(OID_BASIC_CONSTRAINTS, basicConstraints({ ca: false })), /it is not a CA/],
  'whose key signs messages, too': [
    but(OID_KEY_USAGE, keyUsage(['keyCertSign', 'cRLSign', 'digitalSignature'])),
    /its key usages/,
  ],
  'that may not sign CRLs': [but(OID_KEY_USAGE, keyUsage(['keyCertSign'])), /its key usages/],
  'with loose basicConstraints': [turned(OID_BASIC_CONSTRAINTS), /2\.5\.29\.19 is not critical/],
  'with loose nameConstraints': [turned(OID_NAME_CONSTRAINTS), /2\.5\.29\.30 is not critical/],
  'with a purpose': [but('', extKeyUsage([OID_CLIENT_AUTH])), /2\.5\.29\.37 is not allowed/],
  'with a directory name as constraint': [
    but(OID_NAME_CONSTRAINTS, { oid: OID_NAME_CONSTRAINTS, critical: true, value: DIRECTORY }),
    /comparable-constraints/,
  ],
  'without the key of its CA': [but(OID_AUTHORITY_KEY_IDENTIFIER), /key-identifiers/],
  'that outlives its CA': [{ notAfter: issuer.notAfter + 1000 }, /validity-inside-issuer/],
  'with a short serial number': [{ serial: Uint8Array.of(1, 2, 3) }, /serial-positive/],
  'without a name': [{ subject: Uint8Array.of(0x30, 0) }, /the subject is empty/],
};

for (const [name, [fields, message]] of Object.entries(rows)) {
  test(`a planned CA ${name} is refused`, () => {
    refuses(() => prepareCa(changed(fields), issuer), 'LINT_FAILED', message, 'wait');
  });
}

test('excluded and permitted names of each kind are read as they were encoded', () => {
  const all = [
    { kind: 'dns', text: 'a.example' },
    { kind: 'uri', text: '.b.example' },
    { kind: 'email', text: 'c.example' },
    { kind: 'ip', range: Buffer.from('0a000000ff000000', 'hex') },
  ] as const;
  const extension = nameConstraints({ permitted: all, excluded: all.slice(0, 1) });
  const { nameConstraints: found } = decodeTbs(changed(but(OID_NAME_CONSTRAINTS, extension)));
  const plain = found?.permitted.map((each) =>
    each.kind === 'ip' ? { ...each, range: Buffer.from(each.range) } : each,
  );
  assert.deepEqual(plain, all);
  assert.deepEqual(found?.excluded, all.slice(0, 1));
});
