// SPDX-License-Identifier: Apache-2.0
import { san } from '../../support/pki/chain.ts';
import {
  NULL,
  explicit,
  extension,
  ia5,
  implicit,
  oid,
  seq,
  set,
  tlv,
  utf8,
} from '../../support/pki/der.ts';
import type { Table } from './case.ts';

const NAME = 'RFC 5280 §4.2.1.6';
const SYNTAX = 'RFC 3986 §3';
const HOST = 'RFC 5280 §4.2.1.6, RFC 1034 §3.5';
const EMAIL = 1;
const DNS = 2;
const URI = 6;
const IP = 7;

const many = (count: number): Uint8Array =>
  san(...Array.from({ length: count }, (_, i) => [DNS, `n${i}.example`] as const));

/** Subject alternative names, as extensions. */
export const ALTERNATIVE_NAMES: Table<Uint8Array> = {
  'every-kind': [
    '',
    NAME,
    san(
      [EMAIL, 'a@b.example'],
      [DNS, 'a.example'],
      [URI, 'https://a.example/x'],
      [IP, [10, 0, 0, 1]],
    ),
  ],
  wildcard: ['', NAME, san([DNS, '*.a.example'])],
  ipv6: ['', NAME, san([IP, Array.from({ length: 16 }, (_, i) => i)])],
  'no-names': ['the list of names is empty', NAME, extension('2.5.29.17', seq())],
  'no-value': ['the value is empty', NAME, extension('2.5.29.17', [])],
  'a-set': ['the list of names is a SET', NAME, extension('2.5.29.17', set(implicit(DNS, [0x61])))],
  'bare-string': ['the value is no list', NAME, extension('2.5.29.17', ia5('a.example'))],
  trailing: [
    'something follows the list',
    'X.690 §10',
    extension('2.5.29.17', [...seq(implicit(DNS, [0x61])), 0]),
  ],
  'universal-string': [
    'a name is a bare IA5String',
    NAME,
    extension('2.5.29.17', seq(ia5('a.example'))),
  ],
  'unknown-kind': [
    'a name is of the kind 9, which does not exist',
    NAME,
    extension('2.5.29.17', seq(implicit(9, [0x61]))),
  ],
  'constructed-dns': [
    'a DNS name is constructed',
    'X.690 §10.2',
    extension('2.5.29.17', seq(explicit(DNS, ia5('a.example')))),
  ],
  'dns-empty': ['a DNS name is empty', NAME, san([DNS, ''])],
  'dns-blank': ['a DNS name is a blank', HOST, san([DNS, ' '])],
  'dns-nul': ['a DNS name holds NUL (CVE-2009-2408)', NAME, san([DNS, 'a.example\0.evil'])],
  'dns-newline': ['a DNS name holds a newline', NAME, san([DNS, 'a\nb.example'])],
  'dns-latin1': ['a DNS name holds an octet above 127', NAME, san([DNS, [0x61, 0xe9]])],
  'dns-utf8': ['a DNS name is UTF-8', NAME, san([DNS, Buffer.from('bücher.example')])],
  'dns-comma': [
    'a DNS name holds ", DNS:" (CVE-2021-44532)',
    HOST,
    san([DNS, 'a.example, DNS:evil']),
  ],
  'dns-quote': ['a DNS name holds a quotation mark', HOST, san([DNS, 'a".example'])],
  'dns-leading-dot': ['a DNS name begins with a dot', HOST, san([DNS, '.a.example'])],
  'dns-trailing-dot': ['a DNS name ends with a dot', HOST, san([DNS, 'a.example.'])],
  'dns-double-dot': ['a DNS name has an empty label', HOST, san([DNS, 'a..example'])],
  'dns-long-label': ['a label has 64 octets', HOST, san([DNS, `${'a'.repeat(64)}.example`])],
  'dns-long-name': ['a DNS name has 256 octets', HOST, san([DNS, `${'a.'.repeat(124)}example0`])],
  'dns-inner-wildcard': [
    'an asterisk stands inside a label',
    'RFC 6125 §6.4.3',
    san([DNS, 'a*b.example']),
  ],
  'dns-two-wildcards': ['two labels are asterisks', 'RFC 6125 §6.4.3', san([DNS, '*.*.example'])],
  'dns-upper-case': ['a DNS name has two spellings', 'RFC 4343 §3', san([DNS, 'A.Example'])],
  'dns-hyphen': ['a label begins with a hyphen', HOST, san([DNS, '-a.example'])],
  'dns-address': ['a DNS name is an IPv4 address', HOST, san([DNS, '10.0.0.1'])],
  'email-empty': ['an email address is empty', NAME, san([EMAIL, ''])],
  'email-no-at': ['an email address has no @', 'RFC 2821 §4.1.2', san([EMAIL, 'a.example'])],
  'email-two-ats': ['an email address has two @', 'RFC 2821 §4.1.2', san([EMAIL, 'a@b@c.example'])],
  'email-no-domain': ['an email address has no domain', 'RFC 2821 §4.1.2', san([EMAIL, 'a@'])],
  'email-phrase': ['an email address has a phrase', NAME, san([EMAIL, 'A <a@b.example>'])],
  'email-utf8': ['an email address is UTF-8', NAME, san([EMAIL, Buffer.from('ü@b.example')])],
  'email-nul': ['an email address holds NUL', NAME, san([EMAIL, 'a@b.example\0'])],
  'email-quoted': [
    'a local part is quoted, which readers undo differently',
    'RFC 5322 §3.4.1',
    san([EMAIL, '"a b"@c.example']),
  ],
  'uri-empty': ['a URI is empty', NAME, san([URI, ''])],
  'uri-relative': ['a URI has no scheme', NAME, san([URI, '/ns/a'])],
  'uri-no-host': ['a URI has a scheme alone', NAME, san([URI, 'spiffe:'])],
  'uri-bad-percent': ['a URI has % without two digits', SYNTAX, san([URI, 'spiffe://a/%zz'])],
  'uri-control': ['a URI holds a newline', SYNTAX, san([URI, 'spiffe://a/\n'])],
  'uri-blank': ['a URI has a blank in its host', SYNTAX, san([URI, 'https://a b/'])],
  'uri-nul': ['a URI holds NUL', SYNTAX, san([URI, 'spiffe://a/\0'])],
  'uri-utf8': ['a URI is UTF-8', SYNTAX, san([URI, Buffer.from('https://bücher.example/')])],
  'uri-bad-port': ['a URI has a port of letters', SYNTAX, san([URI, 'https://a.example:x/'])],
  'uri-open-bracket': [
    'a URI has an IPv6 address without its bracket',
    SYNTAX,
    san([URI, 'https://[::1/']),
  ],
  'uri-bad-address': ['a URI has letters in brackets', SYNTAX, san([URI, 'https://[zz]/'])],
  'uri-userinfo': [
    'a URI has a user and a password',
    'RFC 3986 §3.2.1',
    san([URI, 'https://u:p@a.example/']),
  ],
  'uri-dot-segments': [
    'a path has .. (which readers take out, or do not)',
    'SPIFFE-ID §2.2',
    san([URI, 'spiffe://a/ns/../sa']),
  ],
  'uri-backslash': ['a URI has a backslash', SYNTAX, san([URI, 'https://a.example\\@b/'])],
  'uri-fragment': ['a SPIFFE ID has a fragment', 'SPIFFE-ID §2.2', san([URI, 'spiffe://a/b#c'])],
  'uri-query': ['a SPIFFE ID has a query', 'SPIFFE-ID §2.2', san([URI, 'spiffe://a/b?c'])],
  'ip-empty': ['an IP address has no octets', NAME, san([IP, []])],
  'ip-3': ['an IP address has 3 octets', NAME, san([IP, [1, 2, 3]])],
  'ip-5': ['an IP address has 5 octets', NAME, san([IP, [1, 2, 3, 4, 5]])],
  'ip-8': ['an IP address is a range', NAME, san([IP, [10, 0, 0, 0, 255, 0, 0, 0]])],
  'ip-17': ['an IP address has 17 octets', NAME, san([IP, new Uint8Array(17)])],
  'ip-text': ['an IP address is a text', NAME, san([IP, '10.0.0.1'])],
  'ip-mapped': [
    'an IPv4 address is mapped into IPv6: two spellings',
    'RFC 4291 §2.5.5.2',
    san([IP, [...new Uint8Array(10), 255, 255, 10, 0, 0, 1]]),
  ],
  'other-name': [
    '',
    NAME,
    extension(
      '2.5.29.17',
      seq(
        tlv(0xa0, oid('1.2.3.4'), explicit(0, utf8('x'))),
        implicit(DNS, Buffer.from('a.example')),
      ),
    ),
  ],
  'registered-id': ['', NAME, san([DNS, 'a.example'], [8, [0x2a, 0x03]])],
  'bad-first-octet': [
    'a name has a tag number above 30',
    NAME,
    extension('2.5.29.17', seq([0x9f, 0x22, 0x01, 0x61])),
  ],
  null: ['a name is NULL', NAME, extension('2.5.29.17', seq(NULL))],
  'thousand-and-one': ['there are 1,001 names, which no TLS peer takes', 'own limit', many(1001)],
};
