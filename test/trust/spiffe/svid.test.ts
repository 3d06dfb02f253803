// SPDX-License-Identifier: Apache-2.0
/** X509-SVID §2, §3.1, §4, §5.2. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { svidFault } from '#trust/spiffe/svid.ts';
import { ca, link, purposes, san, usage } from '../../support/pki/chain.ts';
import { bits, extension } from '../../support/pki/der.ts';

const ID = 'spiffe://prod.example.com/ns/a/sa/b';
const [SERVER, CLIENT] = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'];
const URI = 6;
/** digitalSignature. */
const SIGNS = usage([0x80], 7);

function faultOf(...extensions: readonly Uint8Array[]): string | undefined {
  return svidFault(link('leaf', { extensions }).certificate);
}

test('a leaf with one SPIFFE ID that has a path and leaf usages is an X509-SVID', () => {
  assert.equal(faultOf(SIGNS, san([URI, ID])), undefined);
  assert.equal(
    faultOf(SIGNS, san([URI, ID], [2, 'a.example.com']), purposes(SERVER, CLIENT)),
    undefined,
  );
});

const WRONG: readonly (readonly [string, readonly Uint8Array[], RegExp])[] = [
  ['no URI', [SIGNS, san([2, 'a.example.com'])], /0 URI names/],
  ['two URIs', [SIGNS, san([URI, ID], [URI, `${ID}/c`])], /2 URI names/],
  [
    'two URIs of which one is no SPIFFE ID',
    [SIGNS, san([URI, ID], [URI, 'https://a.example/'])],
    /2 URI/,
  ],
  ['another scheme', [SIGNS, san([URI, 'https://a.example/'])], /not a SPIFFE ID/],
  ['no path', [SIGNS, san([URI, 'spiffe://prod.example.com'])], /no path/],
  ['a CA', [ca(), SIGNS, san([URI, ID])], /CA certificate/],
  ['no key usage', [san([URI, ID])], /no critical key usage/],
  [
    'a key usage that is not critical',
    [extension('2.5.29.15', bits([0x80], 7)), san([URI, ID])],
    /no critical/,
  ],
  ['no digitalSignature', [usage([0x20], 5), san([URI, ID])], /lacks digitalSignature/],
  ['keyCertSign', [usage([0x84], 2), san([URI, ID])], /keyCertSign/],
  ['cRLSign', [usage([0x82], 1), san([URI, ID])], /cRLSign/],
  ['one purpose of two', [SIGNS, san([URI, ID]), purposes(SERVER)], /serverAuth or clientAuth/],
];

for (const [what, extensions, fault] of WRONG)
  test(`a certificate with ${what} is none`, () => {
    assert.match(faultOf(...extensions) ?? '', fault);
  });
