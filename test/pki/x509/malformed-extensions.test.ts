// SPDX-License-Identifier: Apache-2.0
import { describe, test } from 'node:test';
import type { ErrorCode } from '#base/errors.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import {
  TRUE,
  base128,
  bits,
  extension,
  ia5,
  implicit,
  int,
  octets,
  oid,
  seq,
  tlv,
  utf8,
} from '../../support/pki/der.ts';
import { refuses } from '../../support/pki/refuses.ts';
import { extensionRequest, requestDer } from '../../support/pki/request-der.ts';

type Row = readonly [Uint8Array, ErrorCode, RegExp];

const SAN = '2.5.29.17';
const withExtensions = (...extensions: readonly Uint8Array[]): Uint8Array =>
  requestDer({ attributes: [extensionRequest(...extensions)] });
const withSan = (...names: readonly Uint8Array[]): Uint8Array =>
  withExtensions(extension(SAN, seq(...names)));
const LONG_ID = `spiffe://a${'/a'.repeat(510)}`;
const hugeOid = (length: number): Uint8Array =>
  tlv(0x06, [0x2a, ...new Array<number>(length - 2).fill(0x81), 0x01]);

const EXTENSIONS: Readonly<Record<string, Row>> = {
  'with an extension twice': [
    withExtensions(
      extension(SAN, seq(implicit(2, [0x61]))),
      extension(SAN, seq(implicit(2, [0x62]))),
    ),
    'DER_MALFORMED',
    /extension 2\.5\.29\.17 occurs twice/,
  ],
  'with a BOOLEAN of 01': [
    withExtensions(seq(oid(SAN), tlv(0x01, [1]), octets(seq(implicit(2, [0x61]))))),
    'DER_MALFORMED',
    /critical of extension 2\.5\.29\.17 is a BOOLEAN that is neither 00 nor ff/,
  ],
  'with a BOOLEAN of two bytes': [
    withExtensions(seq(oid(SAN), tlv(0x01, [0xff, 0xff]), octets(seq(implicit(2, [0x61]))))),
    'DER_MALFORMED',
    /critical of extension 2\.5\.29\.17 is a BOOLEAN that is neither 00 nor ff/,
  ],
  'with trailing bytes in an extension value': [
    withExtensions(extension(SAN, [...seq(implicit(2, [0x61])), 0])),
    'DER_MALFORMED',
    /subjectAltName has trailing bytes/,
  ],
  'with an empty SAN': [withSan(), 'DER_MALFORMED', /subjectAltName has no names/],
  'with a SAN of an unknown kind': [
    withSan(implicit(9, [0x61])),
    'DER_MALFORMED',
    /subjectAltName has a name of an unknown kind/,
  ],
  'with a constructed DNS name': [
    withSan(tlv(0xa2, ia5('a'))),
    'DER_MALFORMED',
    /subjectAltName has a name of an unknown kind/,
  ],
  'with a DNS name that is not ASCII': [
    withSan(implicit(2, [0xc3, 0xa9])),
    'DER_MALFORMED',
    /a DNS name is not a valid IA5String/,
  ],
  'with an empty DNS name': [
    withSan(implicit(2, [])),
    'NAME_INVALID',
    /subjectAltName has a DNS name that is empty or has a NUL or control character/,
  ],
  'with an IP address of 5 bytes': [
    withSan(implicit(7, [10, 0, 0, 1, 0])),
    'NAME_INVALID',
    /subjectAltName has an IP address of 5 bytes/,
  ],
  'with an IP address with a mask': [
    withSan(implicit(7, [10, 0, 0, 0, 255, 0, 0, 0])),
    'NAME_INVALID',
    /subjectAltName has an IP address of 8 bytes/,
  ],
  'with a URI that is none': [
    withSan(implicit(6, Buffer.from('not a uri'))),
    'NAME_INVALID',
    /the URI "not a uri" is not an absolute URI \(RFC 3986\)/,
  ],
  'with a URI with a broken escape': [
    withSan(implicit(6, Buffer.from('https://a.example/%zz'))),
    'NAME_INVALID',
    /the URI "https:\/\/a\.example\/%zz" is not an absolute URI \(RFC 3986\)/,
  ],
  'with a URI with a control character': [
    withSan(implicit(6, Buffer.from('https://a.example/\x01'))),
    'NAME_INVALID',
    /subjectAltName has a URI that is empty or has a NUL or control character/,
  ],
  'with a path length without CA:TRUE': [
    withExtensions(extension('2.5.29.19', seq(int(1)))),
    'DER_MALFORMED',
    /the path length of basicConstraints is there without cA/,
  ],
  'with a negative path length': [
    withExtensions(extension('2.5.29.19', seq(TRUE, int(0xff)))),
    'DER_MALFORMED',
    /the path length of basicConstraints is negative/,
  ],
  'with a key usage without bits': [
    withExtensions(extension('2.5.29.15', bits([]))),
    'DER_MALFORMED',
    /keyUsage has no bit set/,
  ],
  'with a key usage with set padding': [
    withExtensions(extension('2.5.29.15', bits([0x81], 7))),
    'DER_MALFORMED',
    /keyUsage has unused bits that are set/,
  ],
  'with an empty extended key usage': [
    withExtensions(extension('2.5.29.37', seq())),
    'DER_MALFORMED',
    /extKeyUsage is empty/,
  ],
  'with a purpose that is no OID': [
    withExtensions(extension('2.5.29.37', seq(utf8('a')))),
    'DER_MALFORMED',
    /a purpose has tag 0x0c instead of 0x06/,
  ],
  'with an OID of 10 KB': [
    withExtensions(extension('2.5.29.37', seq(hugeOid(10_000)))),
    'DER_LIMIT',
    /a purpose of extKeyUsage is an OBJECT IDENTIFIER of more than 128 bytes or 20 arcs, or with an arc above 2147483647/,
  ],
  'with an OID of 254 KB': [
    withExtensions(extension('2.5.29.37', seq(hugeOid(254_000)))),
    'DER_LIMIT',
    /a purpose of extKeyUsage is an OBJECT IDENTIFIER of more than 128 bytes or 20 arcs, or with an arc above 2147483647/,
  ],
  'with an OID with 21 arcs': [
    withExtensions(extension('2.5.29.37', seq(tlv(0x06, new Array<number>(21).fill(1))))),
    'DER_LIMIT',
    /a purpose of extKeyUsage is an OBJECT IDENTIFIER of more than 128 bytes or 20 arcs, or with an arc above 2147483647/,
  ],
  'with an OID arc with a leading zero': [
    withExtensions(extension('2.5.29.37', seq(tlv(0x06, [0x55, 0x80, 0x25])))),
    'DER_MALFORMED',
    /a purpose of extKeyUsage has an arc that is not minimal/,
  ],
  'with an OID that breaks off': [
    withExtensions(extension('2.5.29.37', seq(tlv(0x06, [0x55, 0x9d])))),
    'DER_MALFORMED',
    /a purpose of extKeyUsage is an OBJECT IDENTIFIER that ends in the middle/,
  ],
  'with an empty OID': [
    withExtensions(extension('2.5.29.37', seq(tlv(0x06)))),
    'DER_MALFORMED',
    /a purpose of extKeyUsage is an OBJECT IDENTIFIER that ends in the middle/,
  ],
  // Go's OIDs are ints: it refuses such a request, so must we.
  'with an OID arc of 2³¹ and more': [
    withExtensions(extension('2.5.29.37', seq(tlv(0x06, [0x55, ...base128(2 ** 31)])))),
    'DER_LIMIT',
    /a purpose of extKeyUsage is an OBJECT IDENTIFIER of more than 128 bytes or 20 arcs, or with an arc above 2147483647/,
  ],
  'with an OID arc that wraps around to a known one': [
    withExtensions(extension('2.5.29.37', seq(tlv(0x06, [0x55, 0x1d, ...base128(2 ** 32 + 37)])))),
    'DER_LIMIT',
    /a purpose of extKeyUsage is an OBJECT IDENTIFIER of more than 128 bytes or 20 arcs, or with an arc above 2147483647/,
  ],
  'with 1,001 SANs': [
    withSan(...Array.from({ length: 1001 }, (_, i) => implicit(2, Buffer.from(`n${i}.example`)))),
    'DER_LIMIT',
    /subjectAltName has more than 1000 names/,
  ],
  'with 100 KiB of SANs': [
    withSan(...Array.from({ length: 100 }, () => implicit(6, Buffer.from(LONG_ID)))),
    'DER_LIMIT',
    /subjectAltName has \d{6} bytes, more than 102400/,
  ],
  'with 65 purposes': [
    withExtensions(
      extension('2.5.29.37', seq(...Array.from({ length: 65 }, (_, i) => oid(`1.2.3.${i}`)))),
    ),
    'DER_LIMIT',
    /extKeyUsage has more than 64 purposes/,
  ],
  'with 10,000 extensions': [
    withExtensions(...Array.from({ length: 10_000 }, (_, i) => extension(`1.2.3.${i}`, []))),
    'DER_LIMIT',
    /there are more than 64 extensions/,
  ],
};

describe('an extension request is refused', () => {
  for (const [name, [der, code, message]] of Object.entries(EXTENSIONS)) {
    test(name, () => refuses(() => decodeRequest(der), code, message));
  }
});
