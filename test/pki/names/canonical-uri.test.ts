// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonicalUri } from '#pki/names/canonical-uri.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { refuses } from '../../support/pki/refuses.ts';

/** RFC 3986 §6.2.2 and §6.2.3: spellings of one URI. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  'https://a.example/': [
    'https://a.example',
    'HTTPS://A.Example/',
    'https://a.example:443',
    'https://a.example:0443/',
    'https://a.example:00443',
  ],
  'http://a.example:8080/': ['http://a.example:8080', 'http://a.example:08080/'],
  'http://a.example:443/': ['HTTP://a.example:443/'],
  'https://a.example/A': ['https://a.example/%41', 'https://a.example:443/%41'],
  'https://a.example/~a-b_c.d': ['https://a.example/%7ea%2Db%5fc%2e%64'],
  'https://a.example/%C3%A9': ['https://a.example/%c3%a9', 'https://a.example/%C3%a9'],
  'https://a.example/a%20b?c%2F=%3D#%3F': ['https://a.example/a%20b?%63%2f=%3d#%3f'],
  'https://a.example/?a': ['https://a.example?a', 'https://a.example/?%61'],
  'https://[2001:db8::1]/': ['https://[2001:DB8:0::1]:443'],
  'ldap://a.example/': ['ldap://a.example:389', 'ldap://a.example:0389/'],
  'coaps://a.example/': ['coaps://a.example:5684'],
  'ssh://a.example/x': ['ssh://a.example:22/x'],
  'foo://a.example/': ['foo://a.example', 'FOO://A.example'],
  'urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6': [
    'urn:UUID:F81D4FAE-7dec-11d0-a765-00a0c91e6bf6',
  ],
  'urn:example:a%2C123': ['urn:EXAMPLE:a%2c123', 'URN:ex%61mple:a%2c123'],
};

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'an encoded slash or backslash': [
    'https://a.example/team-a%2f..%2fadmin',
    'https://a.example/team-a%2Fadmin',
    'https://a.example/a%5cb',
    'https://a.example/a%5C..%5Cb',
    'urn:a%2fb',
    'https://a.example/a%EF%BC%8F..%EF%BC%8Fadmin',
    'https://a.example/a%EF%BC%BCb',
    'https://a.example/a%E2%88%95b',
    'https://a.example/a%E2%81%84b',
    'https://a.example/a%C2%A5b',
  ],
  'a host that is none': ['file://localhost/etc', 'file://LOCALHOST/etc'],
  'Unicode in another form than C': ['https://a.example/ae%CC%81', 'https://a.example/%E2%84%AA'],
  'a URN that is not one (RFC 8141 §2)': [
    'urn://e#x:example:a',
    'urn://a.example/example:a',
    'urn:a',
    'urn:a:b',
    'urn:-example:a',
    'urn:example-:a',
    'urn:example:',
    'urn:example:/a',
    'urn:a.example:b',
    `urn:${'a'.repeat(33)}:b`,
  ],
  'a UUID that is not one (RFC 9562 §4)': [
    'urn:uuid:f81d4fae',
    'urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6a',
    'urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bg6',
    'urn:uuid:f81d4fae-7dec-11d0-a765-00a0c%c3%98e6bf6',
    'URN:UUID:f81d4fae7dec11d0a76500a0c91e6bf6',
  ],
  'an empty segment': [
    'https://a.example//admin',
    'https://a.example/team-a//admin',
    'https://a.example/a//',
    'foo:/a//b',
  ],
  'an escape of what nobody sees': [
    'https://a.example/team-a%E2%80%AEnimda',
    'https://a.example/a%E2%80%8B',
    'https://a.example/?a%C2%AD',
    'https://a.example/#%F3%A0%80%81',
    'https://a.example/%E2%A0%80',
    'https://a.example/%C2%85',
  ],
  'a dot segment in any spelling': [
    'https://a.example/.',
    'https://a.example/%2e',
    'https://a.example/a/.../b',
    'https://a.example/%2E%2e/a',
    'https://a.example/a/.%2e/b',
    'https://a.example/a/..;x/b',
    'https://a.example/a/%2e%2e;/b',
    'urn:../a',
    'foo:/a/../b',
    'https://a.example/a/..%3B/b',
    'https://a.example/a/.%3bx/b',
    'https://a.example/a/..%20/b',
    'https://a.example/a/%EF%BC%8E%EF%BC%8E/b',
  ],
  'an escape of an escape': [
    'https://a.example/%252e%252e/a',
    'https://a.example/%252f',
    'https://a.example/%25%32%66',
    'https://a.example/%2525',
  ],
  'an escape of a control character': [
    'https://a.example/%00',
    'https://a.example/?%0d%0a',
    'a:%7f',
  ],
  'escapes that are not UTF-8': [
    'https://a.example/%c0%ae%c0%ae/',
    'https://a.example/%ff',
    'https://a.example/%ed%a0%80',
  ],
  'a port that is none': [
    'https://a.example:99999',
    'https://a.example:65536/',
    'https://a.example:0/',
    'https://a.example:/',
    'https://a.example:+1/',
    'https://a.example:4_3/',
  ],
  'no authority where the scheme has one': [
    'https:evil.example/x',
    'https:/evil.example/x',
    'https:///evil.example/x',
    'HTTP:a',
    'wss:a',
  ],
  'a character that its part may not have': [
    'https://a.example/[',
    'https://a.example/#a#b',
    'https://a.example\\@b.example/',
    'https://a.example/\u2215',
  ],
  'a host that readers differ about': [
    'https://[10.0.0.1]/',
    'https://0x7f.1/',
    'https://127.1/',
    'https://a%2eexample/',
    'https://a.example./',
  ],
};

describe('a URI has one spelling', () => {
  for (const [canonical, others] of Object.entries(SAME)) {
    test(canonical, () => {
      for (const text of [canonical, ...others]) assert.equal(canonicalUri(text), canonical, text);
    });
  }
  for (const [what, texts] of Object.entries(REFUSED)) {
    test(`refused: ${what}`, () => {
      for (const text of texts)
        refuses(() => canonicalUri(text), 'NAME_INVALID', /the URI|the DNS name|the IP/);
    });
  }
});

const PIECES = [
  'a',
  'A',
  '.',
  '..',
  '/',
  '//',
  ':',
  '@',
  ';',
  '?',
  '#',
  '%2e',
  '%2F',
  '%5c',
  '%41',
  '%7E',
  '%25',
  '%c3%a9',
  '%C3',
  '%00',
  '80',
  '443',
  '0',
  'a.example',
  '[::1]',
  '~',
  '!',
  '=',
  '&',
  '+',
];

test('what is accepted is what a browser reads, character for character', () => {
  // A linear congruential generator: the same texts in each run.
  let state = 1;
  const next = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  let accepted = 0;
  for (let round = 0; round < 30_000; round++) {
    const scheme = ['http', 'https', 'HTTPS'][next(3)] ?? '';
    const rest = Array.from({ length: next(9) }, () => PIECES[next(PIECES.length)] ?? '').join('');
    const text = `${scheme}:${next(8) === 0 ? '' : '//a.example'}${rest}`;
    const canonical = attempt(() => canonicalUri(text));
    if (canonical instanceof SignerError) continue;
    accepted += 1;
    assert.equal(canonicalUri(canonical), canonical, text);
    assert.equal(new URL(canonical).href, canonical, text);
    assert.equal(new URL(text).host, new URL(canonical).host, text);
  }
  assert.ok(accepted > 3_000, `${accepted} of 30000 are accepted`);
});

test('an authority ends at a slash, a question mark or a number sign', () => {
  const quoted = `a://${'a'.repeat(2040)}"`;
  assert.throws(() => canonicalUri(quoted), /is not an absolute URI/);
  assert.throws(() => canonicalUri('a://[x'), /has no host/);
  assert.equal(canonicalUri('a://example.com?b'), 'a://example.com/?b');
  assert.equal(canonicalUri('a://example.com#b'), 'a://example.com/#b');
});
