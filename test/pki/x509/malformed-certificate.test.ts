// SPDX-License-Identifier: Apache-2.0
import { describe, test } from 'node:test';
import type { ErrorCode } from '#base/errors.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { certificateDer } from '../../support/pki/certificate-der.ts';
import {
  NULL,
  explicit,
  extension,
  implicit,
  int,
  octets,
  oid,
  seq,
  set,
  tlv,
  utf8,
  utcTime,
} from '../../support/pki/der.ts';
import { refuses } from '../../support/pki/refuses.ts';

type Row = readonly [Uint8Array, ErrorCode, RegExp];

const TIMES = (notBefore: Uint8Array, notAfter = utcTime('270101000000Z')): Uint8Array =>
  certificateDer({ validity: seq(notBefore, notAfter) });
const generalized = (text: string): Uint8Array => tlv(0x18, Buffer.from(text));

const CERTIFICATES: Readonly<Record<string, Row>> = {
  'with a signature algorithm that is no OID': [
    certificateDer({ algorithm: seq(int(1)) }),
    'DER_MALFORMED',
    /the signature algorithm has tag 0x02 instead of 0x06/,
  ],
  'with a signature algorithm with two parameters': [
    certificateDer({ algorithm: seq(oid('1.2.840.10045.4.3.2'), NULL, NULL) }),
    'DER_MALFORMED',
    /the signature algorithm has trailing bytes/,
  ],
  'with a name of a CRL distribution point that is cut off': [
    certificateDer({
      extensions: [extension('2.5.29.31', seq(seq(explicit(0, explicit(0, [0x86, 9, 0x61])))))],
    }),
    'DER_MALFORMED',
    /longer than the element that holds it/,
  ],
  'of version 1': [
    certificateDer({ version: [] }),
    'DER_MALFORMED',
    /is of version 1, and must be of version 3/,
  ],
  'of version 1 written out': [
    certificateDer({ version: explicit(0, int(0)) }),
    'DER_MALFORMED',
    /is of version 1, and must be of version 3/,
  ],
  'of version 2': [
    certificateDer({ version: explicit(0, int(1)) }),
    'DER_MALFORMED',
    /is of version 2, and must be of version 3/,
  ],
  'of version 4': [
    certificateDer({ version: explicit(0, int(3)) }),
    'DER_MALFORMED',
    /is of version 4, and must be of version 3/,
  ],
  'with two versions': [
    certificateDer({ version: explicit(0, int(2), int(2)) }),
    'DER_MALFORMED',
    /the version has trailing bytes/,
  ],
  'with a negative serial number': [
    certificateDer({ serial: int(0x80) }),
    'DER_MALFORMED',
    /the serial number is negative/,
  ],
  'with a serial number that is not minimal': [
    certificateDer({ serial: int(0, 1) }),
    'DER_MALFORMED',
    /the serial number is an INTEGER that is not minimal/,
  ],
  'with an empty serial number': [
    certificateDer({ serial: int() }),
    'DER_MALFORMED',
    /the serial number is an empty INTEGER/,
  ],
  'with a serial number of 65 bytes': [
    certificateDer({
      serial: int(1, ...new Array<number>(64).fill(0)),
    }),
    'DER_LIMIT',
    /the serial number has 65 bytes, more than 64/,
  ],
  'with two signature algorithms': [
    certificateDer({
      innerAlgorithm: seq(oid('1.2.840.10045.4.3.3')),
    }),
    'DER_MALFORMED',
    /the inner and the outer signature algorithm of the certificate differ/,
  ],
  'with a UTCTime without seconds': [
    TIMES(utcTime('2601010000Z')),
    'DER_MALFORMED',
    /notBefore is not a time in whole seconds of UTC/,
  ],
  'with a UTCTime with an offset': [
    TIMES(utcTime('260101000000+0000')),
    'DER_MALFORMED',
    /notBefore is not a time in whole seconds of UTC/,
  ],
  'with a month 13': [
    TIMES(utcTime('261301000000Z')),
    'DER_MALFORMED',
    /notBefore is a time that does not exist/,
  ],
  'with a 30th of February': [
    TIMES(utcTime('260230000000Z')),
    'DER_MALFORMED',
    /notBefore is a time that does not exist/,
  ],
  'with a leap day in no leap year': [
    TIMES(utcTime('270229000000Z')),
    'DER_MALFORMED',
    /notBefore is a time that does not exist/,
  ],
  'with an hour 24': [
    TIMES(utcTime('260101240000Z')),
    'DER_MALFORMED',
    /notBefore is a time that does not exist/,
  ],
  'with a second 60': [
    TIMES(utcTime('260101000060Z')),
    'DER_MALFORMED',
    /notBefore is a time that does not exist/,
  ],
  'with a fraction of a second': [
    TIMES(utcTime('260101000000Z'), generalized('20510101000000.5Z')),
    'DER_MALFORMED',
    /notAfter is not a time in whole seconds of UTC/,
  ],
  'with a time that is a string': [
    TIMES(utf8('260101000000Z')),
    'DER_MALFORMED',
    /notBefore has tag 0x0c instead of 0x18/,
  ],
  'with an empty list of extensions': [
    certificateDer({ extensionField: explicit(3, seq()) }),
    'DER_MALFORMED',
    /the extensions are empty/,
  ],
  'with two lists of extensions': [
    certificateDer({
      extensionField: explicit(3, seq(extension('1.2.3', [])), seq(extension('1.2.4', []))),
    }),
    'DER_MALFORMED',
    /the extensions has trailing bytes/,
  ],
  'with an extension twice': [
    certificateDer({
      extensions: [extension('1.2.3', []), extension('1.2.3', [1])],
    }),
    'DER_MALFORMED',
    /extension 1\.2\.3 occurs twice/,
  ],
  'with a critical subject key identifier': [
    certificateDer({
      extensions: [extension('2.5.29.14', octets([1]), true)],
    }),
    'DER_MALFORMED',
    /extension 2\.5\.29\.14 is critical, which RFC 5280 §4\.2 forbids/,
  ],
  'with a critical authority key identifier': [
    certificateDer({
      extensions: [extension('2.5.29.35', seq(implicit(0, [1])), true)],
    }),
    'DER_MALFORMED',
    /extension 2\.5\.29\.35 is critical, which RFC 5280 §4\.2 forbids/,
  ],
  'with an empty subject key identifier': [
    certificateDer({
      extensions: [extension('2.5.29.14', octets([]))],
    }),
    'DER_MALFORMED',
    /subjectKeyIdentifier has 0 bytes/,
  ],
  'with an issuer without a serial number in its key identifier': [
    certificateDer({
      extensions: [extension('2.5.29.35', seq(explicit(1, implicit(2, [0x61]))))],
    }),
    'DER_MALFORMED',
    /authorityKeyIdentifier has an issuer or a serial alone/,
  ],
  'with policies that are no SEQUENCE': [
    certificateDer({
      extensions: [extension('2.5.29.32', set())],
    }),
    'DER_MALFORMED',
    /certificatePolicies has tag 0x31 instead of 0x30/,
  ],
  'with a policy twice': [
    certificateDer({
      extensions: [extension('2.5.29.32', seq(seq(oid('1.2.3')), seq(oid('1.2.3'))))],
    }),
    'DER_MALFORMED',
    /policy 1\.2\.3 occurs twice/,
  ],
  'with malformed policy mappings': [
    certificateDer({
      extensions: [extension('2.5.29.33', seq(seq(oid('1.2.3'))))],
    }),
    'DER_MALFORMED',
    /a policy is missing/,
  ],
  'with malformed policy constraints': [
    certificateDer({
      extensions: [extension('2.5.29.36', octets([]))],
    }),
    'DER_MALFORMED',
    /policyConstraints has tag 0x04 instead of 0x30/,
  ],
  'with malformed inhibitAnyPolicy': [
    certificateDer({
      extensions: [extension('2.5.29.54', octets([]))],
    }),
    'DER_MALFORMED',
    /inhibitAnyPolicy has tag 0x04 instead of 0x02/,
  ],
  'with malformed CRL distribution points': [
    certificateDer({
      extensions: [extension('2.5.29.31', seq(int(1)))],
    }),
    'DER_MALFORMED',
    /cRLDistributionPoints has tag 0x02 instead of 0x30/,
  ],
  'with malformed authority information access': [
    certificateDer({
      extensions: [extension('1.3.6.1.5.5.7.1.1', seq(int(1)))],
    }),
    'DER_MALFORMED',
    /authorityInfoAccess has tag 0x02 instead of 0x30/,
  ],
  'with critical authority information access': [
    certificateDer({
      extensions: [
        extension(
          '1.3.6.1.5.5.7.1.1',
          seq(seq(oid('1.3.6.1.5.5.7.48.1'), implicit(6, [0x61]))),
          true,
        ),
      ],
    }),
    'DER_MALFORMED',
    /extension 1\.3\.6\.1\.5\.5\.7\.1\.1 is critical, which RFC 5280 §4\.2 forbids/,
  ],
  'with a second field after its signature': [
    seq(certificateDer().subarray(4), int(1)),
    'DER_MALFORMED',
    /has trailing bytes/,
  ],
};

describe('a certificate is refused', () => {
  for (const [name, [der, code, message]] of Object.entries(CERTIFICATES)) {
    test(name, () => refuses(() => decodeCertificate(der), code, message));
  }
});
