// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { correspond, type SignedLeaf } from '#ca/issuance/correspond.ts';
import { PreparedCertificate, prepare } from '#ca/issuance/prepare.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { leafInput, NOW, openAuthority } from '../../support/ca/issuing.ts';
import { refuses } from '../../support/pki/refuses.ts';

const signal = new AbortController().signal;
const authority = await openAuthority();
const { certificate, intermediates, anchors } = authority.facts;
const prepared = prepare(leafInput(authority));
const der = await authority.sign(prepared, signal);
const signed: SignedLeaf = { leaf: decodeCertificate(der), certificate, intermediates, anchors };

test('a leaf that equals the prepared one and verifies to the anchor corresponds', () => {
  assert.doesNotThrow(() => correspond(prepared, signed, NOW));
});

test('a certificate that differs in any field does not correspond', async () => {
  const again = prepare(leafInput(authority));
  const leaf = decodeCertificate(await authority.sign(again, signal));
  refuses(
    () => correspond(prepared, { ...signed, leaf }, NOW),
    'CORRESPONDENCE',
    /is not the prepared one/,
    'authority',
  );
});

test('a CA that changes the to-be-signed bytes is detected', () => {
  const token = prepare(leafInput(authority));
  const tbs = PreparedCertificate.consume(token, authority.facts.fingerprint);
  const before = Uint8Array.from(tbs);
  tbs.set(signed.leaf.tbs.subarray(0, tbs.length));
  assert.notDeepEqual(tbs, before);
  assert.equal(token.equals(before), true);
  refuses(
    () => correspond(token, signed, NOW),
    'CORRESPONDENCE',
    /not the prepared one/,
    'authority',
  );
});

test('the prepared bytes with a bad signature are refused', () => {
  const damaged = Uint8Array.from(der);
  const last = damaged.length - 1;
  damaged[last] = (damaged[last] ?? 0) ^ 1;
  refuses(
    () => correspond(prepared, { ...signed, leaf: decodeCertificate(damaged) }, NOW),
    'PATH_INVALID',
    /the signature of .* is not by/,
    'authority',
  );
});

test('a leaf without a path to the anchor is not delivered', async () => {
  const { facts } = await openAuthority();
  refuses(
    () => correspond(prepared, { ...signed, anchors: facts.anchors }, NOW),
    'PATH_INVALID',
    /no valid path to a trust anchor/,
    'authority',
  );
});

test('a leaf that is expired or not yet valid is not delivered', () => {
  refuses(
    () => correspond(prepared, signed, signed.leaf.notAfter + 1000),
    'PATH_INVALID',
    /expired/,
    'authority',
  );
});
