// SPDX-License-Identifier: Apache-2.0
import { purposes, usage } from '../../support/pki/chain.ts';
import {
  NULL,
  TRUE,
  bits,
  extension,
  explicit,
  implicit,
  int,
  octets,
  oid,
  seq,
  tlv,
} from '../../support/pki/der.ts';
import type { Table } from './case.ts';

const BASIC = '2.5.29.19';
const KEY_USAGE = '2.5.29.15';
const PURPOSES = '2.5.29.37';
const CONSTRAINTS = '2.5.29.30';
const DER = 'X.690 §10';
const FALSE = tlv(0x01, [0]);

/** Constraints, usages and purposes, as extensions. */
export const LIMITS: Table<Uint8Array> = {
  'no-ca': ['', 'RFC 5280 §4.2.1.9', extension(BASIC, seq(), true)],
  'basic-constraints-no-value': [
    'basicConstraints is empty',
    'RFC 5280 §4.2.1.9',
    extension(BASIC, [], true),
  ],
  'written-default': [
    'CA:FALSE is written, which is the default',
    'X.690 §11.5',
    extension(BASIC, seq(FALSE), true),
  ],
  'ca-0x01': ['TRUE is 01', 'X.690 §11.1', extension(BASIC, seq(tlv(0x01, [1])), true)],
  'ca-two-octets': [
    'a BOOLEAN has two octets',
    'X.690 §8.2.1',
    extension(BASIC, seq(tlv(0x01, [255, 255])), true),
  ],
  'ca-integer': [
    'CA is an INTEGER',
    'RFC 5280 §4.2.1.9',
    extension(BASIC, seq(tlv(0x0a, [1])), true),
  ],
  'path-length-without-ca': [
    'a path length without CA',
    'RFC 5280 §4.2.1.9',
    extension(BASIC, seq(int(0)), true),
  ],
  'path-length-negative': [
    'the path length is -1',
    'RFC 5280 §4.2.1.9',
    extension(BASIC, seq(TRUE, int(0xff)), true),
  ],
  'path-length-padded': [
    'the path length is padded',
    'X.690 §8.3.2',
    extension(BASIC, seq(TRUE, int(0, 1)), true),
  ],
  'path-length-huge': [
    'the path length has 9 octets',
    'own limit',
    extension(BASIC, seq(TRUE, int(1, 0, 0, 0, 0, 0, 0, 0, 0)), true),
  ],
  'basic-constraints-trailing': [
    'something follows the path length',
    DER,
    extension(BASIC, seq(TRUE, int(0), NULL), true),
  ],
  'key-usage-none': ['keyUsage has no bit', 'RFC 5280 §4.2.1.3', usage([], 0)],
  'key-usage-zero-bits': [
    'keyUsage has bits that are all zero',
    'RFC 5280 §4.2.1.3',
    usage([0], 0),
  ],
  'key-usage-trailing-zeros': [
    'keyUsage has trailing zero bits',
    'X.690 §11.2.2',
    usage([0x80], 0),
  ],
  'key-usage-unused-set': ['unused bits are set', 'X.690 §11.2.1', usage([0xff], 7)],
  'key-usage-8-unused': ['a BIT STRING has 8 unused bits', 'X.690 §8.6.2.2', usage([0x80], 8)],
  'key-usage-empty-string': [
    'a BIT STRING has no octet',
    'X.690 §8.6.2',
    extension(KEY_USAGE, tlv(0x03), true),
  ],
  'key-usage-10th-bit': [
    'keyUsage has a bit that does not exist',
    'RFC 5280 §4.2.1.3',
    usage([0x80, 0x40], 6),
  ],
  'key-usage-octets': [
    'keyUsage is an OCTET STRING',
    'RFC 5280 §4.2.1.3',
    extension(KEY_USAGE, octets([0x80]), true),
  ],
  'key-usage-trailing': [
    'something follows keyUsage',
    DER,
    extension(KEY_USAGE, [...bits([0x80], 7), 0], true),
  ],
  'purposes-none': ['extKeyUsage is empty', 'RFC 5280 §4.2.1.12', purposes()],
  'purposes-no-oid': [
    'a purpose is an INTEGER',
    'RFC 5280 §4.2.1.12',
    extension(PURPOSES, seq(int(1))),
  ],
  'purposes-empty-oid': [
    'an OID has no octet',
    'X.690 §8.19.2',
    extension(PURPOSES, seq(tlv(0x06))),
  ],
  'purposes-cut-oid': [
    'an OID ends in the middle of an arc',
    'X.690 §8.19.2',
    extension(PURPOSES, seq(tlv(0x06, [0x2b, 0x86]))),
  ],
  'purposes-padded-oid': [
    'an arc is padded',
    'X.690 §8.19.2',
    extension(PURPOSES, seq(tlv(0x06, [0x2b, 0x80, 0x01]))),
  ],
  'purposes-trailing': [
    'something follows extKeyUsage',
    DER,
    extension(PURPOSES, [...seq(oid('1.3.6.1.5.5.7.3.1')), 0]),
  ],
  'purposes-65': [
    'there are 65 purposes, which is no limit any more',
    'own limit',
    purposes(...Array.from({ length: 65 }, (_, i) => `1.2.3.${i}`)),
  ],
  'aliased-purpose': [
    'an arc of 2³²+1 passes for 1 where it wraps around (CVE-2025-66030)',
    'X.690 §8.19',
    extension(PURPOSES, seq(tlv(0x06, [0x2b, 6, 1, 5, 5, 7, 0x90, 0x80, 0x80, 0x80, 0x03, 1]))),
  ],
  'constraints-none': [
    'nameConstraints is empty',
    'RFC 5280 §4.2.1.10',
    extension(CONSTRAINTS, seq(), true),
  ],
  'constraints-mask-gap': [
    'an address mask has gaps',
    'RFC 5280 §4.2.1.10',
    constraint(implicit(7, [10, 0, 0, 0, 255, 0, 255, 0])),
  ],
  'constraints-short-range': [
    'an address range has 4 octets',
    'RFC 5280 §4.2.1.10',
    constraint(implicit(7, [10, 0, 0, 0])),
  ],
  'constraints-blank-name': [
    'a constraint is a blank',
    'RFC 5280 §4.2.1.10',
    constraint(implicit(2, [0x20])),
  ],
  'constraints-latin1': [
    'a constraint is no IA5String',
    'RFC 5280 §4.2.1.10',
    constraint(implicit(2, [0xe9])),
  ],
  'constraints-double-dot': [
    'a constraint has an empty label',
    'RFC 5280 §4.2.1.10',
    constraint(implicit(2, Buffer.from('a..b'))),
  ],
  'constraints-uri-address': [
    'a URI constraint is an address',
    'RFC 5280 §4.2.1.10',
    constraint(implicit(6, Buffer.from('10.0.0.1'))),
  ],
  'constraints-two-ats': [
    'an email constraint has two @',
    'RFC 5280 §4.2.1.10',
    constraint(implicit(1, Buffer.from('a@b@c'))),
  ],
  'constraints-mailbox-control': [
    'a mailbox has a control character',
    'RFC 5321 §4.1.2',
    constraint(implicit(1, Buffer.from('\x06@b.example'))),
  ],
  'constraints-minimum': [
    'a constraint has a minimum',
    'RFC 5280 §4.2.1.10',
    extension(CONSTRAINTS, seq(explicit(0, seq(implicit(2, [0x61]), implicit(0, [1])))), true),
  ],
};

function constraint(base: Uint8Array): Uint8Array {
  return extension(CONSTRAINTS, seq(explicit(0, seq(base))), true);
}
