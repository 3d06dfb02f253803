// SPDX-License-Identifier: Apache-2.0
/** Nothing is signed but the CRL that was wanted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { encodeTbsList } from '#ca/revocation/encode-list.ts';
import { PreparedList, prepareList } from '#ca/revocation/prepared-list.ts';
import type { WantedList } from '#ca/revocation/wanted-list.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import { decodeCertificateList } from '#pki/x509/certificate-list.ts';
import { verifySignature } from '#pki/keys/signature-verification.ts';
import { certificateAuthority } from '../../support/ca/generated.ts';
import { refuses } from '../../support/pki/refuses.ts';

const NOW = Date.now();
const SECOND = 1000;
const START = Math.floor(NOW / SECOND) * SECOND;

const open = async () =>
  openLocalAuthority({ ...(await certificateAuthority()), anchors: undefined }, NOW);
const authority = await open();
const stranger = await open();

const WANTED: WantedList = {
  issuer: authority.facts,
  number: 12n,
  thisUpdate: START,
  nextUpdate: START + 60 * SECOND,
  revoked: [{ serial: Uint8Array.of(0x40, 1), revokedAt: START, reason: 'keyCompromise' }],
};
const OTHER_NAME = encodeName({ commonName: 'X', organizations: [], organizationalUnits: [] });
const [ENTRY] = WANTED.revoked;
assert.ok(ENTRY);

test('what is signed verifies with the key of the CA', () => {
  const list = authority.signList?.(prepareList(encodeTbsList(WANTED), WANTED));
  assert.ok(list);
  const { signatureAlgorithm, tbs, signature } = decodeCertificateList(list);
  const { publicKey } = authority.facts.certificate;
  assert.ok(verifySignature(publicKey, signatureAlgorithm, tbs, signature));
});

const others: readonly (readonly [what: string, wanted: Partial<WantedList>, says: RegExp])[] = [
  ['another CA', { issuer: { ...authority.facts, subject: OTHER_NAME } }, /issuer/],
  [
    'another key of the same name',
    { issuer: { ...authority.facts, keyIdentifier: Uint8Array.of(1) } },
    /key is not the CA’s/,
  ],
  [
    'another algorithm',
    { issuer: { ...authority.facts, signatureAlgorithm: Uint8Array.of(0x30, 0) } },
    /algorithm/,
  ],
  ['another number', { number: 13n }, /number differs/],
  ['another thisUpdate', { thisUpdate: START - SECOND }, /times/],
  ['another nextUpdate', { nextUpdate: START + SECOND }, /times/],
  ['an entry fewer', { revoked: [] }, /number of its entries/],
  ['another serial number', { revoked: [{ ...ENTRY, serial: Uint8Array.of(2) }] }, /entry/],
  ['another reason', { revoked: [{ ...ENTRY, reason: 'superseded' }] }, /entry/],
  ['another time', { revoked: [{ ...ENTRY, revokedAt: START - SECOND }] }, /entry/],
];

for (const [what, change, says] of others) {
  test(`a CRL that says ${what} than wanted is not signed`, () => {
    const run = (): unknown => prepareList(encodeTbsList(WANTED), { ...WANTED, ...change });
    refuses(run, 'CORRESPONDENCE', says, 'authority');
  });
}

test('no CA signs the CRL of another', () => {
  const list = prepareList(encodeTbsList(WANTED), WANTED);
  refuses(() => stranger.signList?.(list), 'CORRESPONDENCE', /another|it is for/, 'authority');
});

test('nothing but prepareList makes what a CA signs', () => {
  assert.throws(() => new PreparedList(Symbol('prepared-list'), Uint8Array.of(1), 'x'), TypeError);
});
