// SPDX-License-Identifier: Apache-2.0
import { ca, keyIds, purposes, san, usage } from './chain.ts';
import { certificateDer, named } from './certificate-der.ts';
import {
  NULL,
  TRUE,
  bits,
  explicit,
  extension,
  generalizedTime,
  implicit,
  int,
  octets,
  oid,
  seq,
  tlv,
  utcTime,
} from './der.ts';
import { ECDSA_SHA256, extensionRequest, requestDer } from './request-der.ts';
import { privateKey, spkiOf } from './keys.ts';

/** An odd form, and its twin in DER, which says the same. */
export interface Twins {
  /** Who wrote it, or where that is said. */
  readonly met: string;
  readonly odd: Uint8Array;
  readonly canonical: Uint8Array;
}

const FALSE = tlv(0x01, [0]);
const BASIC = '2.5.29.19';
const KEY_USAGE = '2.5.29.15';
const CONSTRAINTS = '2.5.29.30';
const ECDSA_NULL = seq(oid('1.2.840.10045.4.3.2'), NULL);
const NAMES = san([2, 'web.example']);

/** Signs all of them. */
export const FORM_KEY = privateKey('P-256', 'form');
const key = FORM_KEY;
const request = (...extensions: readonly Uint8Array[]): Uint8Array =>
  requestDer({
    key,
    spki: spkiOf(key),
    subject: named('web'),
    attributes: [extensionRequest(NAMES, ...extensions)],
  });
const writtenFalse = seq(oid(BASIC), FALSE, octets(seq()));

/** Requests in a form that DER does not have, and that all readers read in one way. */
export const ODD_REQUESTS: Readonly<Record<string, Twins>> = {
  'cA FALSE that is written': {
    met: 'pyca/cryptography#6368',
    odd: request(extension(BASIC, seq(FALSE))),
    canonical: request(extension(BASIC, seq())),
  },
  'critical FALSE that is written': {
    met: 'BMCs, such as iDRAC',
    odd: request(writtenFalse),
    canonical: request(extension(BASIC, seq())),
  },
  'key usages that end in zero bits': {
    met: 'Mbed-TLS/mbedtls#1610',
    odd: request(extension(KEY_USAGE, bits([0xa0], 0))),
    canonical: request(extension(KEY_USAGE, bits([0xa0], 5))),
  },
  'key usages in two octets': {
    met: 'encoders that always write nine bits',
    odd: request(extension(KEY_USAGE, bits([0xa0, 0], 7))),
    canonical: request(extension(KEY_USAGE, bits([0xa0], 5))),
  },
  'key usages in 32 bits': {
    met: 'encoders that write a word',
    odd: request(extension(KEY_USAGE, bits([0xa0, 0, 0, 0], 0))),
    canonical: request(extension(KEY_USAGE, bits([0xa0], 5))),
  },
  'an ECDSA algorithm with NULL': {
    met: 'RFC 5758 §3.2 has it omitted; older Java encoders write it',
    odd: requestDer({
      key,
      spki: spkiOf(key),
      subject: named('web'),
      attributes: [extensionRequest(NAMES)],
      algorithm: ECDSA_NULL,
    }),
    canonical: request(),
  },
};

const root = (parts: Parameters<typeof certificateDer>[0] = {}): Uint8Array =>
  certificateDer({
    key,
    spki: spkiOf(key),
    issuer: named('root'),
    subject: named('root'),
    extensions: [ca(), usage(), ...keyIds('root')],
    ...parts,
  });
const other = keyIds('root');
const constrained = (...minimum: readonly Uint8Array[]): Uint8Array =>
  extension(
    CONSTRAINTS,
    seq(explicit(0, seq(implicit(2, Buffer.from('example')), ...minimum))),
    true,
  );

/** CAs in such a form. */
export const ODD_CAS: Readonly<Record<string, Twins>> = {
  'times before 2050 as GeneralizedTime': {
    met: 'RFC 5280 §4.1.2.5 obliges readers',
    odd: root({
      validity: seq(generalizedTime('20260101000000Z'), generalizedTime('20270101000000Z')),
    }),
    canonical: root(),
  },
  'critical FALSE that is written': {
    met: 'pyca/cryptography#6368',
    odd: root({
      extensions: [
        ca(),
        usage(),
        seq(oid('2.5.29.37'), FALSE, octets(seq(oid('2.5.29.37.0')))),
        ...other,
      ],
    }),
    canonical: root({ extensions: [ca(), usage(), purposes('2.5.29.37.0'), ...other] }),
  },
  'key usages that end in zero bits': {
    met: 'Mbed-TLS/mbedtls#1610',
    odd: root({ extensions: [ca(), usage([0x06], 0), ...other] }),
    canonical: root(),
  },
  'a name constraint with its default minimum': {
    met: 'RFC 5280 §4.2.1.10',
    odd: root({ extensions: [ca(), usage(), constrained(implicit(0, [0])), ...other] }),
    canonical: root({ extensions: [ca(), usage(), constrained(), ...other] }),
  },
  'an ECDSA algorithm with NULL': {
    met: 'RFC 5758 §3.2 has it omitted; older Java encoders write it',
    odd: root({ algorithm: ECDSA_NULL }),
    canonical: root({ algorithm: ECDSA_SHA256 }),
  },
};

const eight = (first: number, count: number): Uint8Array =>
  int(first, ...new Uint8Array(count - 1).fill(1));

/** CAs with a value that RFC 5280 does not let CAs write, and that all readers read in one way. */
export const UNUSUAL_CAS: Readonly<Record<string, Uint8Array>> = {
  'a serial number of 21 octets': root({ serial: eight(0x66, 21) }),
  'a serial number of 20 octets and a zero before': root({
    serial: int(0, 0xe6, ...new Uint8Array(19).fill(1)),
  }),
  'a serial number of 64 octets': root({ serial: eight(1, 64) }),
  'the serial number zero': root({ serial: int(0) }),
  'a beginning in the year 1, which Go writes for no time': root({
    validity: seq(generalizedTime('00010101000000Z'), utcTime('270101000000Z')),
  }),
  'a beginning in 1949': root({
    validity: seq(generalizedTime('19491231235959Z'), utcTime('270101000000Z')),
  }),
};

/** CAs that readers read in different ways. */
export const AMBIGUOUS_CAS: Readonly<Record<string, Uint8Array>> = {
  'unused bits that are set': root({ extensions: [ca(), usage([0x07], 1), ...other] }),
  'a key usage without a bit': root({ extensions: [ca(), usage([0], 0), ...other] }),
  'a path length without cA': root({
    extensions: [extension(BASIC, seq(int(0)), true), usage(), ...other],
  }),
  'TRUE that is 01': root({
    extensions: [extension(BASIC, seq(tlv(0x01, [1])), true), usage(), ...other],
  }),
  'a negative serial number': root({ serial: int(0x80) }),
  'a name constraint with a minimum of 1': root({
    extensions: [ca(), usage(), constrained(implicit(0, [1])), ...other],
  }),
  'a name constraint with a maximum': root({
    extensions: [ca(), usage(), constrained(implicit(0, [0]), implicit(1, [9])), ...other],
  }),
  'cA TRUE after the path length': root({
    extensions: [extension(BASIC, seq(int(0), TRUE), true), usage(), ...other],
  }),
};
