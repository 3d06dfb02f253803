// SPDX-License-Identifier: Apache-2.0
/** SPIFFE Trust Domain and Bundle §4, X509-SVID §6.2, RFC 7517 §4.7. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBundle, type ForeignBundle } from '#trust/spiffe/read-bundle.ts';
import { writeBundle } from '#trust/spiffe/write-bundle.ts';
import { link, san } from '../../support/pki/chain.ts';
import { spiffeCa } from '../../support/trust/certificates.ts';

const [A, B] = [spiffeCa('A'), spiffeCa('B')];
type Jwk = Readonly<Record<string, unknown>>;

function jwkOf({ certificate }: typeof A): Jwk {
  const text = writeBundle({ anchors: [certificate], sequence: 1n, refreshSeconds: 1 });
  const [jwk = {}] = (JSON.parse(text) as { readonly keys: readonly Jwk[] }).keys;
  return jwk;
}

function read(keys: readonly Jwk[], more: object = {}): ForeignBundle | string {
  return readBundle(JSON.stringify({ keys, ...more }));
}

/** How many CAs are read. */
function count(found: ForeignBundle | string): number {
  assert.ok(typeof found !== 'string', found as string);
  return found.anchors.length;
}

test('what we write is read again', () => {
  const anchors = [A.certificate, B.certificate];
  const found = readBundle(writeBundle({ anchors, sequence: 9n, refreshSeconds: 60 }));
  const { sequence, refreshSeconds } = found as ForeignBundle;
  assert.deepEqual([count(found), sequence, refreshSeconds], [2, 9n, 60]);
});

test('a sequence of 64 bits keeps every digit', () => {
  const found = readBundle('{"spiffe_sequence":18446744073709551615,"keys":[]}');
  assert.equal((found as ForeignBundle).sequence, 18_446_744_073_709_551_615n);
});

test('keys of unknown types and uses, or without use or certificate, are ignored', () => {
  const good = jwkOf(A);
  const { use: _, ...useless } = jwkOf(B);
  for (const ignored of [
    { ...jwkOf(B), kty: 'AKP' },
    { ...jwkOf(B), use: 'jwt-svid' },
    { ...jwkOf(B), use: 'X509-SVID' },
    useless,
    { ...jwkOf(B), x5c: [] },
    { ...jwkOf(B), x5c: undefined },
  ])
    assert.equal(count(read([ignored, good])), 1);
  assert.equal(count(read([{ ...jwkOf(B), use: 'jwt-svid' }])), 0);
});

test('of several certificates the first counts, and a CA twice is one', () => {
  const [second] = jwkOf(B)['x5c'] as readonly string[];
  const [first] = jwkOf(A)['x5c'] as readonly string[];
  assert.equal(count(read([{ ...jwkOf(A), x5c: [first, second] }, jwkOf(A)])), 1);
});

test('sequence and hint may be missing and members unknown, but keys must exist', () => {
  const found = read([jwkOf(A)], { else: 1 });
  assert.equal(count(found), 1);
  assert.equal((found as ForeignBundle).sequence, undefined);
  assert.equal(typeof readBundle('{"spiffe_sequence":1}'), 'string');
});

const NOT_A_CA = link('leaf', { extensions: [] });
const WITH_PATH = spiffeCa('path', san([6, 'spiffe://partner.example/a']));
const WRONG: readonly (readonly [string, string])[] = [
  ['no JSON', '<html>'],
  ['no object', '[]'],
  ['a sequence that is no integer', '{"spiffe_sequence":1.5,"keys":[]}'],
  ['a negative sequence', '{"spiffe_sequence":-1,"keys":[]}'],
  ['a hint that is no integer', '{"spiffe_refresh_hint":"1","keys":[]}'],
  ['a certificate that is none', JSON.stringify({ keys: [{ ...jwkOf(A), x5c: ['AAAA'] }] })],
  [
    'a private key',
    JSON.stringify({ keys: [{ ...jwkOf(A), ...A.key.export({ format: 'jwk' }) }] }),
  ],
  ['a certificate that is no CA’s', JSON.stringify({ keys: [jwkOf(NOT_A_CA)] })],
  ['a CA whose SPIFFE ID has a path', JSON.stringify({ keys: [jwkOf(WITH_PATH)] })],
  ['a list for a bundle', '[{"keys":[]}]'],
  ['keys that are no list', '{"keys":{}}'],
  ['a key that is no object', '{"keys":["x"]}'],
  ['a sequence in quotes', '{"spiffe_sequence":"7","keys":[]}'],
  ['a hint below zero', '{"spiffe_refresh_hint":-1,"keys":[]}'],
  ['a million brackets', '['.repeat(1_000_000)],
  ['keys within keys', `{"keys":${'[{"keys":'.repeat(100_000)}`],
  ['a sequence of a thousand digits', `{"spiffe_sequence":${'9'.repeat(1000)},"keys":[]}`],
  ['more keys than anybody has', JSON.stringify({ keys: Array(1001).fill({}) })],
  ['a prototype', '{"__proto__":{"keys":[]}}'],
  ['the key of another', JSON.stringify({ keys: [{ ...jwkOf(A), x5c: jwkOf(B)['x5c'] }] })],
];

for (const [what, text] of WRONG)
  test(`a bundle with ${what} is refused whole`, () => {
    assert.equal(typeof readBundle(text), 'string');
  });

test('a hundred CAs are read, and not one more', () => {
  const links = Array.from({ length: 101 }, (_, at) => spiffeCa(`CA ${at}`));
  assert.equal(count(read(links.slice(1).map(jwkOf))), 100);
  assert.match(read(links.map(jwkOf)) as string, /more than 100 CAs/);
});
