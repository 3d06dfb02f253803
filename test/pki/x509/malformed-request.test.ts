// SPDX-License-Identifier: Apache-2.0
import { describe, test } from 'node:test';
import type { ErrorCode } from '#base/errors.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import {
  bits,
  extension,
  implicit,
  int,
  oid,
  printable,
  seq,
  set,
  tlv,
  utf8,
} from '../../support/pki/der.ts';
import { refuses } from '../../support/pki/refuses.ts';
import { extensionRequest, requestDer } from '../../support/pki/request-der.ts';

type Row = readonly [Uint8Array, ErrorCode, RegExp];

const hugeOid = (length: number): Uint8Array =>
  tlv(0x06, [0x2a, ...new Array<number>(length - 2).fill(0x81), 0x01]);

const REQUESTS: Readonly<Record<string, Row>> = {
  'with a version other than 1': [
    requestDer({ version: int(1) }),
    'DER_MALFORMED',
    /the PKCS#10 request is of version 2, and must be of version 1.*openssl req -new/,
  ],
  'with a negative version': [
    requestDer({ version: int(0xff) }),
    'DER_MALFORMED',
    /the version of the PKCS#10 request is negative/,
  ],
  'with a version that is not minimal': [
    requestDer({ version: int(0, 0) }),
    'DER_MALFORMED',
    /the version of the PKCS#10 request is an INTEGER that is not minimal/,
  ],
  'with an empty version': [
    requestDer({ version: int() }),
    'DER_MALFORMED',
    /the version of the PKCS#10 request is an empty INTEGER/,
  ],
  'without attributes': [
    requestDer({ attributeField: new Uint8Array() }),
    'DER_MALFORMED',
    /the attributes is missing/,
  ],
  'with something after its attributes': [
    requestDer({ afterInfo: seq() }),
    'DER_MALFORMED',
    /the request’s info has trailing bytes/,
  ],
  'with something after its signature': [
    requestDer({ after: seq() }),
    'DER_MALFORMED',
    /has trailing bytes/,
  ],
  'with an attribute twice': [
    requestDer({
      attributes: [
        extensionRequest(extension('2.5.29.17', seq(implicit(2, [0x61])))),
        extensionRequest(extension('2.5.29.37', seq(oid('1.3.6.1.5.5.7.3.1')))),
      ],
    }),
    'REQUEST_MALFORMED',
    /attribute 1\.2\.840\.113549\.1\.9\.14 of the PKCS#10 request occurs twice/,
  ],
  'with an attribute without values': [
    requestDer({
      attributes: [seq(oid('1.2.840.113549.1.9.14'), set())],
    }),
    'DER_MALFORMED',
    /the extensions is missing/,
  ],
  'with two values of extensionRequest': [
    requestDer({
      attributes: [
        seq(
          oid('1.2.840.113549.1.9.14'),
          set(
            seq(extension('2.5.29.17', seq(implicit(2, [0x61])))),
            seq(extension('2.5.29.17', seq(implicit(2, [0x61, 0x61])))),
          ),
        ),
      ],
    }),
    'DER_MALFORMED',
    /the values of attribute 1\.2\.840\.113549\.1\.9\.14 has trailing bytes/,
  ],
  'with an attribute that is no SEQUENCE': [
    requestDer({ attributes: [set()] }),
    'DER_MALFORMED',
    /an attribute has tag 0x31 instead of 0x30/,
  ],
  'with an attribute type that is no OID': [
    requestDer({
      attributes: [seq(utf8('a'), set(utf8('a')))],
    }),
    'DER_MALFORMED',
    /an attribute type has tag 0x0c instead of 0x06/,
  ],
  'with no extension in its extensionRequest': [
    requestDer({ attributes: [extensionRequest()] }),
    'DER_MALFORMED',
    /the extensions are empty/,
  ],
  'with an OID of 10 KB as an attribute type': [
    requestDer({
      attributes: [seq(hugeOid(10_000), set(utf8('a')))],
    }),
    'DER_LIMIT',
    /an attribute type is an OBJECT IDENTIFIER of more than 128 bytes or 20 arcs, or with an arc above 2147483647/,
  ],
  'with an OID of 10 KB in its subject': [
    requestDer({
      subject: seq(set(seq(hugeOid(10_000), utf8('a')))),
    }),
    'DER_LIMIT',
    /the subject is an OBJECT IDENTIFIER of more than 128 bytes or 20 arcs, or with an arc above 2147483647/,
  ],
  'with 10,000 attributes': [
    requestDer({
      attributes: Array.from({ length: 10_000 }, (_, i) => seq(oid(`1.2.3.${i}`), set(utf8('a')))),
    }),
    'DER_LIMIT',
    /has over 16 attributes/,
  ],
  'with 10,000 attributes in its subject': [
    requestDer({
      subject: seq(...Array.from({ length: 10_000 }, () => set(seq(oid('2.5.4.10'), utf8('a'))))),
    }),
    'DER_LIMIT',
    /the subject has more than 102400 bytes/,
  ],
  'with 257 attributes in its subject': [
    requestDer({
      subject: seq(...Array.from({ length: 257 }, () => set(seq(oid('2.5.4.10'), utf8('a'))))),
    }),
    'DER_LIMIT',
    /the subject has more than 256 attributes/,
  ],
  'with a subject of more than 100 KiB, which no certificate could hold beside its other names': [
    requestDer({
      subject: seq(
        ...Array.from({ length: 60 }, () => set(seq(oid('2.5.4.10'), utf8('a'.repeat(2000))))),
      ),
    }),
    'DER_LIMIT',
    /the subject has more than 102400 bytes/,
  ],
  'with a common name of 2,049 bytes': [
    requestDer({ subject: seq(set(seq(oid('2.5.4.3'), utf8('a'.repeat(2049))))) }),
    'DER_LIMIT',
    /CN of the subject has more than 2048 bytes/,
  ],
  'with a subject that is a SET': [
    requestDer({ subject: set() }),
    'DER_MALFORMED',
    /the subject has tag 0x31 instead of 0x30/,
  ],
  'with an empty RDN': [
    requestDer({ subject: seq(set()) }),
    'DER_MALFORMED',
    /an attribute of the subject is missing/,
  ],
  'with an attribute without a value': [
    requestDer({ subject: seq(set(seq(oid('2.5.4.3')))) }),
    'DER_MALFORMED',
    /CN of the subject is not a character string/,
  ],
  'with an attribute with two values': [
    requestDer({
      subject: seq(set(seq(oid('2.5.4.3'), utf8('a'), utf8('b')))),
    }),
    'DER_MALFORMED',
    /an attribute of the subject has trailing bytes/,
  ],
  'with a name that is no string': [
    requestDer({ subject: seq(set(seq(oid('2.5.4.3'), int(1)))) }),
    'DER_MALFORMED',
    /CN of the subject is not a character string/,
  ],
  'with a name that is not UTF-8': [
    requestDer({
      subject: seq(set(seq(oid('2.5.4.3'), tlv(0x0c, [0xff])))),
    }),
    'DER_MALFORMED',
    /CN of the subject is not a valid UTF8String/,
  ],
  'with a name in overlong UTF-8': [
    requestDer({
      subject: seq(set(seq(oid('2.5.4.3'), tlv(0x0c, [0xc0, 0x80])))),
    }),
    'DER_MALFORMED',
    /CN of the subject is not a valid UTF8String/,
  ],
  'with a constructed string': [
    requestDer({
      subject: seq(set(seq(oid('2.5.4.3'), tlv(0x2c, utf8('a'))))),
    }),
    'DER_MALFORMED',
    /CN of the subject is not a character string/,
  ],
  'with a PrintableString with other characters': [
    requestDer({
      subject: seq(set(seq(oid('2.5.4.3'), printable('a@b')))),
    }),
    'DER_MALFORMED',
    /CN of the subject is not a valid PrintableString/,
  ],
  'with an unsorted RDN': [
    requestDer({
      subject: seq(set(seq(oid('2.5.4.10'), utf8('b')), seq(oid('2.5.4.10'), utf8('a')))),
    }),
    'DER_MALFORMED',
    /an attribute of the subject is not in ascending order/,
  ],
  'with a signature that is no whole number of bytes': [
    requestDer({ signature: bits([0x80], 7) }),
    'DER_MALFORMED',
    /the signature is not a whole number of bytes/,
  ],
  'with an empty signature': [
    requestDer({ signature: tlv(0x03) }),
    'DER_MALFORMED',
    /the signature is an empty BIT STRING/,
  ],
  'with a constructed signature': [
    requestDer({ signature: tlv(0x23, bits([1])) }),
    'DER_MALFORMED',
    /the signature has tag 0x23 instead of 0x03/,
  ],
};

describe('a PKCS#10 request is refused', () => {
  for (const [name, [der, code, message]] of Object.entries(REQUESTS)) {
    test(name, () => refuses(() => decodeRequest(der), code, message));
  }
});
