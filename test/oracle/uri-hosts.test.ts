// SPDX-License-Identifier: Apache-2.0
/**
 * OpenSSL as a reader of URIs beside Go: below a CA that is constrained to one host, it accepts of
 * what we take for canonical only what names that host.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignerError, attempt } from '#base/errors.ts';
import { canonicalUri } from '#pki/names/canonical-uri.ts';
import { ca, keyIds, link, NOW, san, usage } from '../support/pki/chain.ts';
import { explicit, extension, implicit, seq } from '../support/pki/der.ts';
import { privateKey } from '../support/pki/keys.ts';
import { Openssl } from './openssl.ts';

const HOST = 'a.example';
const NAME_CONSTRAINTS = '2.5.29.30';
const URI = 6;

const SCHEMES = ['https', 'spiffe', 'foo'];
const AUTHORITIES = [
  ...['', 'user@', 'a.example@', 'evil.example@'].flatMap((user) =>
    ['a.example', 'evil.example', 'a.example.evil.example', 'evil.example.a.example'].flatMap(
      (host) => ['', ':8443', ':a.example'].map((port) => `//${user}${host}${port}`),
    ),
  ),
  '',
  '/',
  'a.example',
  '///a.example',
  '//[2001:db8::1]',
  '//10.0.0.1',
  '//a.example.',
];
const TAILS = [
  '',
  '/',
  '/x',
  '/a.example',
  '/x:1',
  '/:a.example',
  '/@a.example',
  '//a.example/',
  '/a;b=c',
  '?q',
  '?@a.example',
  '/?a.example:1',
  '#a.example',
  '/#@a.example:1',
  '\\a.example',
  ';a.example',
  '%2fa.example',
  '/%3a',
  '/..',
  '/a%40a.example',
];

/** The host by RFC 3986 appendix B and §3.2. */
function hostOf(uri: string): string | undefined {
  const authority = /^[^:/?#]+:\/\/([^/?#]*)/.exec(uri)?.[1];
  return authority?.replace(/^.*@/, '').replace(/:[0-9]*$/, '');
}

const uris = SCHEMES.flatMap((scheme) =>
  AUTHORITIES.flatMap((authority) => TAILS.map((tail) => `${scheme}:${authority}${tail}`)),
).filter((uri) => {
  const canonical = attempt(() => canonicalUri(uri));
  return !(canonical instanceof SignerError) && canonical === uri;
});

const root = link('root', { extensions: [ca(), usage(), ...keyIds('root')] });
const permitted = explicit(0, seq(implicit(URI, Buffer.from(HOST))));
const constrained = link('constrained', {
  by: root,
  extensions: [
    ca(0),
    usage(),
    extension(NAME_CONSTRAINTS, seq(permitted), true),
    ...keyIds('constrained', 'root'),
  ],
});
const key = privateKey('P-256', 'leaf');
const leafOf = (uri: string): Uint8Array =>
  link('leaf', {
    by: constrained,
    key,
    extensions: [san([URI, uri]), ...keyIds('leaf', 'constrained')],
  }).certificate.raw;

test('OpenSSL reads the host of a canonical URI as RFC 3986 does, or no host at all', async () => {
  using openssl = new Openssl();
  const accepted = await openssl.acceptedLeaves(uris.map(leafOf), {
    intermediates: [constrained.certificate.raw],
    roots: [root.certificate.raw],
    now: NOW,
  });
  const confused = uris.filter((uri, index) => accepted[index] === true && hostOf(uri) !== HOST);
  assert.deepEqual(confused, []);
  const refused = uris.filter((uri, index) => accepted[index] !== true && hostOf(uri) === HOST);
  // It ends a host at the first colon, wherever that is: such a URI is refused, and none is taken
  // for another.
  assert.deepEqual(
    refused.filter((uri) => !/:\/\/[^/]*\/.*:/.test(uri)),
    [],
  );
  assert.ok(
    accepted.filter(Boolean).length >= 20,
    `${accepted.filter(Boolean).length} of ${uris.length}`,
  );
});
