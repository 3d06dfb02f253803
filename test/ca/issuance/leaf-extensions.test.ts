// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import type { KeyUsage, LeafSubject } from '#base/vocabulary.ts';
import { LEAF_USAGES } from '#base/vocabulary.ts';
import { publicKeyInfo } from '../../support/ca/issuing.ts';
import { privateKey, type TestKey } from '../../support/pki/keys.ts';
import { leafExtensions } from '#ca/issuance/leaf-extensions.ts';

const KEY_USAGE = '2.5.29.15';
const EXT_KEY_USAGE = '2.5.29.37';
const BASIC_CONSTRAINTS = '2.5.29.19';
const SUBJECT_KEY = '2.5.29.14';
const AUTHORITY_KEY = '2.5.29.35';
const ALTERNATIVE_NAMES = '2.5.29.17';

/** OID → [critical, hex of the value]. */
function made(
  usages: readonly KeyUsage[],
  more: { subject?: Partial<LeafSubject>; key?: TestKey } = {},
): ReadonlyMap<string, readonly [boolean, string]> {
  const extensions = leafExtensions({
    subject: { ...EMPTY_SUBJECT, dnsNames: ['a.example'], ...more.subject },
    publicKey: publicKeyInfo(privateKey(more.key ?? 'P-256')),
    usages,
    issuerKeyIdentifier: Uint8Array.of(1, 2, 3),
  });
  return new Map(
    extensions.map(({ oid, critical, value }) => [
      oid,
      [critical, Buffer.from(value).toString('hex')],
    ]),
  );
}

test('keyUsage and CA:FALSE are critical, extKeyUsage is not', () => {
  const found = made(['digital signature', 'client auth']);
  // BIT STRING of bit 0 with seven unused bits; SEQUENCE of id-kp-clientAuth; empty SEQUENCE.
  assert.deepEqual(found.get(KEY_USAGE), [true, '03020780']);
  assert.deepEqual(found.get(EXT_KEY_USAGE), [false, '300a06082b06010505070302']);
  assert.deepEqual(found.get(BASIC_CONSTRAINTS), [true, '3000']);
});

test('the key identifier of the CA becomes the leaf’s authority key identifier', () => {
  assert.deepEqual(made(['client auth']).get(AUTHORITY_KEY), [false, '30058003010203']);
});

test('a leaf has six extensions at most, whatever its usages', () => {
  const known = [
    KEY_USAGE,
    EXT_KEY_USAGE,
    BASIC_CONSTRAINTS,
    SUBJECT_KEY,
    AUTHORITY_KEY,
    ALTERNATIVE_NAMES,
  ];
  assert.deepEqual([...made([...LEAF_USAGES], { key: 'RSA-2048' }).keys()], known);
});

test('keyUsage and extKeyUsage are omitted if empty', () => {
  assert.equal(made(['server auth']).has(KEY_USAGE), false);
  assert.equal(made(['digital signature']).has(EXT_KEY_USAGE), false);
});

const HAND_IN_HAND: readonly KeyUsage[] = [
  'digital signature',
  'key encipherment',
  'data encipherment',
  'key agreement',
];

test('an RSA leaf may have keyEncipherment and not keyAgreement (RFC 3279 §2.3.1)', () => {
  // digitalSignature 0, keyEncipherment 2, dataEncipherment 3: 1011.
  assert.deepEqual(made(HAND_IN_HAND, { key: 'RSA-2048' }).get(KEY_USAGE), [true, '030204b0']);
});

test('an ECDSA leaf may have keyAgreement and not keyEncipherment (RFC 5480 §3)', () => {
  // digitalSignature 0, keyAgreement 4: 10001.
  for (const key of ['P-256', 'P-384', 'P-521'] as const) {
    assert.deepEqual(made(HAND_IN_HAND, { key }).get(KEY_USAGE), [true, '03020388']);
  }
});

test('an Ed25519 leaf has only signature usages (RFC 9295 §3)', () => {
  const all = [...HAND_IN_HAND, 'encipher only', 'decipher only'] as const;
  assert.deepEqual(made(all, { key: 'Ed25519' }).get(KEY_USAGE), [true, '03020780']);
});

test('alternative names are critical only with an empty subject (RFC 5280 §4.2.1.6)', () => {
  const critical = (subject: Partial<LeafSubject>): boolean | undefined =>
    made(['client auth'], { subject }).get(ALTERNATIVE_NAMES)?.[0];
  assert.equal(critical({}), true);
  assert.equal(critical({ commonName: 'web' }), false);
  assert.equal(critical({ organizations: ['dev'] }), false);
  assert.equal(critical({ organizationalUnits: ['dev'] }), false);
});

test('names of every type become alternative names, omitted without names', () => {
  const names = (subject: Partial<LeafSubject>): string | undefined =>
    made(['client auth'], { subject: { commonName: 'web', dnsNames: [], ...subject } }).get(
      ALTERNATIVE_NAMES,
    )?.[1];
  assert.equal(names({ dnsNames: ['a.b'] }), '30058203612e62');
  assert.equal(names({ ipAddresses: ['10.0.0.7'] }), '300687040a000007');
  assert.equal(names({ uris: ['a:b'] }), '30058603613a62');
  assert.equal(names({ emails: ['a@b'] }), '30058103614062');
  assert.equal(names({}), undefined);
});
