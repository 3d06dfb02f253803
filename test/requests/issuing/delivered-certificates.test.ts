// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { Authority } from '#ca/custody/contract.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { aboveOf } from '#requests/issuing/local-ca.ts';
import { NOW, ca, keyIds, link, usage, type Link } from '../../support/pki/chain.ts';
import { seq, utcTime } from '../../support/pki/der.ts';

const isCa = [ca(), usage()];
const root = link('root', { extensions: [...isCa, ...keyIds('root')] });
const other = link('other', { extensions: [...isCa, ...keyIds('other')] });
const middle = link('middle', { by: root, extensions: [...isCa, ...keyIds('middle', 'root')] });
/** Certifies the same CA below another root, until 2026-07-01. */
const cross = link('middle', {
  by: other,
  key: middle.key,
  validity: seq(utcTime('260101000000Z'), utcTime('260701000000Z')),
  extensions: [...isCa, ...keyIds('middle', 'other')],
});
const CROSS_ENDS = Date.UTC(2026, 6, 1);
const issuing = link('issuing', {
  by: middle,
  extensions: [...isCa, ...keyIds('issuing', 'middle')],
});

function opened(): Authority {
  const pem = (...links: readonly Link[]): string =>
    links.map(({ certificate }) => new X509Certificate(certificate.raw).toString()).join('');
  const key = issuing.key.export({ type: 'pkcs8', format: 'pem' }).toString();
  const certificate = pem(issuing, middle, cross);
  return openLocalAuthority({ certificate, key, anchors: pem(root, other) }, NOW);
}

const sentAt = (authority: Authority, now: number): readonly string[] =>
  decodePemAll(aboveOf(authority, now).intermediates, 'CERTIFICATE').map((der) => {
    const { subject, issuer } = new X509Certificate(der);
    return `${subject} by ${issuer}`;
  });

test('a certificate that ends after the CA was opened is sent until it ends', () => {
  const authority = opened();
  const lasting = ['CN=issuing by CN=middle', 'CN=middle by CN=root'];
  const all = [...lasting, 'CN=middle by CN=other'];
  assert.deepEqual(sentAt(authority, NOW), all);
  assert.deepEqual(sentAt(authority, CROSS_ENDS), all, 'RFC 5280 §4.1.2.5: notAfter is inclusive');
  assert.deepEqual(sentAt(authority, CROSS_ENDS + 1), lasting);
  assert.deepEqual(sentAt(authority, CROSS_ENDS + 2), lasting);
});
