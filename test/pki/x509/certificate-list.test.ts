// SPDX-License-Identifier: Apache-2.0
/**
 * What a CRL may be (RFC 5280 §5), fault by fault. Go and OpenSSL judge whole ones in
 * test/oracle/crl.test.ts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TAG_ENUMERATED, contextConstructed } from '#pki/der/der-tags.ts';
import { bitString, element, integer, sequence, validityTime } from '#pki/der/der-writer.ts';
import {
  authorityKeyIdentifier,
  encodeExtension,
  type Extension,
} from '#pki/extensions/encode-extensions.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import { decodeCertificateList } from '#pki/x509/certificate-list.ts';
import type { ErrorCode } from '#base/errors.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { refuses } from '../../support/pki/refuses.ts';

const ALGORITHM = signatureAlgorithm(privateKey('P-256')).der;
const OTHER_ALGORITHM = signatureAlgorithm(privateKey('P-384')).der;
const ISSUER = encodeName({ commonName: 'A CA', organizations: [], organizationalUnits: [] });
const THIS_UPDATE = Date.UTC(2026, 10, 22);
const HOUR = 3_600_000;
const NUMBER: Extension = {
  oid: '2.5.29.20',
  critical: false,
  value: integer(Uint8Array.of(7)),
};
const KEY_ID = authorityKeyIdentifier(Uint8Array.of(1, 2, 3));

interface Parts {
  readonly version?: readonly Uint8Array[];
  readonly algorithm?: Uint8Array;
  readonly nextUpdate?: readonly Uint8Array[];
  readonly revoked?: readonly Uint8Array[];
  readonly extensions?: readonly Extension[];
  readonly after?: readonly Uint8Array[];
}

function listOf(parts: Parts): Uint8Array {
  const extensions = parts.extensions ?? [KEY_ID, NUMBER];
  const tbs = sequence(
    ...(parts.version ?? [integer(Uint8Array.of(1))]),
    ALGORITHM,
    ISSUER,
    validityTime(THIS_UPDATE),
    ...(parts.nextUpdate ?? [validityTime(THIS_UPDATE + HOUR)]),
    ...(parts.revoked === undefined ? [] : [sequence(...parts.revoked)]),
    ...(extensions.length === 0
      ? []
      : [element(contextConstructed(0), sequence(...extensions.map(encodeExtension)))]),
    ...(parts.after ?? []),
  );
  return sequence(tbs, parts.algorithm ?? ALGORITHM, bitString(Uint8Array.of(1)));
}

function entryOf(serial: number, extensions: readonly Extension[] = []): Uint8Array {
  return sequence(
    integer(Uint8Array.of(serial)),
    validityTime(THIS_UPDATE),
    ...(extensions.length === 0 ? [] : [sequence(...extensions.map(encodeExtension))]),
  );
}

const reason = (code: number, critical = false): Extension => ({
  oid: '2.5.29.21',
  critical,
  value: element(TAG_ENUMERATED, Uint8Array.of(code)),
});

test('a full CRL of version 2 is read as it is', () => {
  const list = decodeCertificateList(
    listOf({ revoked: [entryOf(5), entryOf(6, [reason(1)]), entryOf(7, [reason(9)])] }),
  );
  assert.equal(list.number, 7n);
  assert.deepEqual(list.authorityKeyIdentifier, Uint8Array.of(1, 2, 3));
  assert.deepEqual([list.thisUpdate, list.nextUpdate], [THIS_UPDATE, THIS_UPDATE + HOUR]);
  const read = list.revoked.map((each) => [...each.serial, each.reason, each.revokedAt]);
  assert.deepEqual(read, [
    [5, 'unspecified', THIS_UPDATE],
    [6, 'keyCompromise', THIS_UPDATE],
    [7, 'privilegeWithdrawn', THIS_UPDATE],
  ]);
});

test('without revoked certificates the list is left out', () => {
  assert.deepEqual(decodeCertificateList(listOf({})).revoked, []);
});

const partition: Extension = { oid: '2.5.29.28', critical: true, value: sequence() };
const delta: Extension = { oid: '2.5.29.27', critical: true, value: integer(Uint8Array.of(1)) };

const faults: readonly (readonly [what: string, parts: Parts, says: RegExp, code?: ErrorCode])[] = [
  ['version 1', { version: [] }, /version/],
  [
    'version 3',
    { version: [integer(Uint8Array.of(2))] },
    /is of version 3, and must be of version 2/,
  ],
  [
    'version 1, written',
    { version: [integer(Uint8Array.of(0))] },
    /is of version 1, and must be of version 2/,
  ],
  ['another outer algorithm', { algorithm: OTHER_ALGORITHM }, /signature algorithm of the CRL/],
  ['no nextUpdate', { nextUpdate: [] }, /nextUpdate/],
  ['nextUpdate at thisUpdate', { nextUpdate: [validityTime(THIS_UPDATE)] }, /not after thisUpdate/],
  ['an empty list of entries', { revoked: [] }, /revoked certificates is empty/],
  ['a serial number twice', { revoked: [entryOf(5), entryOf(5)] }, /5 occurs twice/],
  [
    'a serial number of 22 bytes',
    { revoked: [sequence(integer(new Uint8Array(22).fill(1)), validityTime(THIS_UPDATE))] },
    /22 bytes, more than 21/,
    'DER_LIMIT',
  ],
  ['reason 0, written', { revoked: [entryOf(5, [reason(0)])] }, /reasonCode is 0/],
  ['reason 6, a hold', { revoked: [entryOf(5, [reason(6)])] }, /reasonCode is 6/],
  ['reason 7, which is none', { revoked: [entryOf(5, [reason(7)])] }, /reasonCode is 7/],
  ['reason 11', { revoked: [entryOf(5, [reason(11)])] }, /more than 10/],
  ['a critical reason', { revoked: [entryOf(5, [reason(1, true)])] }, /2\.5\.29\.21 .* critical/],
  [
    'an unknown extension of an entry',
    { revoked: [entryOf(5, [NUMBER])] },
    /entry .* 2\.5\.29\.20/,
  ],
  ['no extensions', { extensions: [] }, /extensions of the CRL is missing/],
  ['no number', { extensions: [KEY_ID] }, /no cRLNumber/],
  ['no key identifier', { extensions: [NUMBER] }, /no cRLNumber, or no authorityKeyIdentifier/],
  ['a critical number', { extensions: [KEY_ID, { ...NUMBER, critical: true }] }, /critical/],
  ['a partition', { extensions: [KEY_ID, NUMBER, partition] }, /has the extension 2\.5\.29\.28/],
  ['a delta', { extensions: [KEY_ID, NUMBER, delta] }, /has the extension 2\.5\.29\.27/],
  ['a negative number', { extensions: [KEY_ID, numbered(Uint8Array.of(0x80))] }, /negative/],
  [
    'a number of 21 bytes',
    { extensions: [KEY_ID, numbered(new Uint8Array(21).fill(1))] },
    /more than 20/,
    'DER_LIMIT',
  ],
  ['something after the extensions', { after: [integer(Uint8Array.of(1))] }, /trailing/],
];

function numbered(contents: Uint8Array): Extension {
  return { ...NUMBER, value: element(0x02, contents) };
}

for (const [what, parts, says, code = 'DER_MALFORMED'] of faults) {
  test(`refused: ${what}`, () => {
    refuses(() => decodeCertificateList(listOf(parts)), code, says);
  });
}

test('refused: more than 1 MiB, before anything is read', () => {
  refuses(() => decodeCertificateList(new Uint8Array(1024 * 1024 + 1)), 'DER_LIMIT', /the CRL has/);
});
