// SPDX-License-Identifier: Apache-2.0
import {
  TRUE,
  bits,
  extension,
  explicit,
  implicit,
  int,
  octets,
  oid,
  seq,
  set,
  tlv,
  utf8,
} from '../../support/pki/der.ts';
import type { Table } from './case.ts';

const POLICIES = '2.5.29.32';
const POINTS = '2.5.29.31';
const INFORMATION = '1.3.6.1.5.5.7.1.1';
const DER = 'X.690 §10';
const FALSE = tlv(0x01, [0]);

/** Identifiers, policies and where to look, as extensions; and what an extension itself can be. */
export const OTHERS: Table<Uint8Array> = {
  'subject-key-id-critical': [
    'subjectKeyIdentifier is critical',
    'RFC 5280 §4.2.1.2',
    extension('2.5.29.14', octets([1, 2]), true),
  ],
  'subject-key-id-bare': [
    'subjectKeyIdentifier is not wrapped',
    'RFC 5280 §4.2.1.2',
    extension('2.5.29.14', [1, 2, 3]),
  ],
  'subject-key-id-none': [
    'subjectKeyIdentifier has no octet',
    'RFC 5280 §4.2.1.2',
    extension('2.5.29.14', octets([])),
  ],
  'subject-key-id-long': [
    'subjectKeyIdentifier is longer than any digest',
    'own limit',
    extension('2.5.29.14', octets(new Uint8Array(65))),
  ],
  'authority-key-id-critical': [
    'authorityKeyIdentifier is critical',
    'RFC 5280 §4.2.1.1',
    extension('2.5.29.35', seq(implicit(0, [1])), true),
  ],
  'authority-key-id-bare': [
    'authorityKeyIdentifier is no SEQUENCE',
    'RFC 5280 §4.2.1.1',
    extension('2.5.29.35', octets([1])),
  ],
  'authority-key-id-half': [
    'an issuer without its serial',
    'RFC 5280 appendix A.2',
    extension('2.5.29.35', seq(explicit(1, explicit(4, seq())))),
  ],
  'authority-key-id-none': [
    'the identifier has no octet',
    'RFC 5280 §4.2.1.1',
    extension('2.5.29.35', seq(implicit(0, []))),
  ],
  'authority-key-id-order': [
    'serial before identifier',
    'RFC 5280 §4.2.1.1',
    extension('2.5.29.35', seq(implicit(2, [1]), implicit(0, [1]))),
  ],
  'policies-none': [
    'certificatePolicies is empty',
    'RFC 5280 §4.2.1.4',
    extension(POLICIES, seq()),
  ],
  'policies-twice': [
    'a policy occurs twice',
    'RFC 5280 §4.2.1.4',
    extension(POLICIES, seq(seq(oid('1.2.3')), seq(oid('1.2.3')))),
  ],
  'policies-no-oid': [
    'a policy is an INTEGER',
    'RFC 5280 §4.2.1.4',
    extension(POLICIES, seq(seq(int(1)))),
  ],
  'policies-bare': [
    'a policy is not wrapped',
    'RFC 5280 §4.2.1.4',
    extension(POLICIES, seq(oid('1.2.3'))),
  ],
  'mappings-none': [
    'policyMappings is empty',
    'RFC 5280 §4.2.1.5',
    extension('2.5.29.33', seq(), true),
  ],
  'mappings-one': [
    'a mapping has one policy',
    'RFC 5280 §4.2.1.5',
    extension('2.5.29.33', seq(seq(oid('1.2.3'))), true),
  ],
  'inhibit-any-negative': [
    'inhibitAnyPolicy is negative',
    'RFC 5280 §4.2.1.14',
    extension('2.5.29.54', int(0xff), true),
  ],
  'policy-constraints-padded': [
    'policyConstraints holds a padded number',
    'RFC 5280 §4.2.1.11',
    extension('2.5.29.36', seq(implicit(0, [0, 1])), true),
  ],
  'points-none': ['cRLDistributionPoints is empty', 'RFC 5280 §4.2.1.13', extension(POINTS, seq())],
  'points-bare-name': [
    'the name of a point is not wrapped',
    'RFC 5280 §4.2.1.13',
    extension(POINTS, seq(seq(explicit(0, implicit(6, [0x61]))))),
  ],
  'points-trailing': ['something follows the points', DER, extension(POINTS, [...seq(seq()), 0])],
  'information-critical': [
    'authorityInfoAccess is critical',
    'RFC 5280 §4.2.2.1',
    extension(INFORMATION, seq(seq(oid('1.3.6.1.5.5.7.48.1'), implicit(6, [0x61]))), true),
  ],
  'information-none': [
    'authorityInfoAccess is empty',
    'RFC 5280 §4.2.2.1',
    extension(INFORMATION, seq()),
  ],
  'information-no-location': [
    'a method has no location',
    'RFC 5280 §4.2.2.1',
    extension(INFORMATION, seq(seq(oid('1.3.6.1.5.5.7.48.1')))),
  ],
  'unknown-not-critical': ['', 'RFC 5280 §4.2', extension('1.2.3.4', [1, 2, 3])],
  'written-default-criticality': [
    'critical is written although it is FALSE',
    'X.690 §11.5',
    seq(oid('1.2.3.4'), FALSE, octets([])),
  ],
  'criticality-0x01': [
    'critical is 01',
    'X.690 §11.1',
    seq(oid('1.2.3.4'), tlv(0x01, [1]), octets([])),
  ],
  'criticality-after': [
    'critical stands after the value',
    'RFC 5280 §4.1',
    seq(oid('1.2.3.4'), octets([]), TRUE),
  ],
  'value-bit-string': ['the value is a BIT STRING', 'RFC 5280 §4.1', seq(oid('1.2.3.4'), bits([]))],
  'no-value': ['there is no value', 'RFC 5280 §4.1', seq(oid('1.2.3.4'))],
  'type-relative-oid': [
    'the type is a RELATIVE-OID',
    'RFC 5280 §4.1',
    seq(tlv(0x0d, [1, 2]), octets([])),
  ],
  'a-set': ['an extension is a SET', 'RFC 5280 §4.1', set(oid('1.2.3.4'), octets([]))],
  'a-string': ['an extension is a string', 'RFC 5280 §4.1', utf8('x')],
  'huge-oid': [
    'the type has 10,000 octets',
    'own limit',
    seq(tlv(0x06, [0x2a, ...Array.from({ length: 9999 }, () => 1)]), octets([])),
  ],
  'arc-2-31': [
    'an arc is 2³¹, more than Go reads',
    'X.690 §8.19',
    seq(tlv(0x06, [0x2a, 0x88, 0x80, 0x80, 0x80, 0x00]), octets([])),
  ],
  deep: [
    'a value holds 4,000 nested SEQUENCEs (CVE-2025-66031)',
    'own limit',
    extension('2.5.29.17', nested(4000)),
  ],
};

/** SEQUENCEs in each other. */
export function nested(depth: number): Uint8Array {
  let inner: Uint8Array = new Uint8Array();
  for (let i = 0; i < depth; i++) inner = seq(inner);
  return inner;
}

/** What only the critical bit makes wrong, and only in a certificate: nobody honours it. */
export const CRITICAL: Table<Uint8Array> = {
  unknown: ['an unknown extension is critical', 'RFC 5280 §4.2', extension('1.2.3.4', [], true)],
  'policy-constraints': [
    'policyConstraints may require a policy, and none is looked for',
    'RFC 5280 §6.1',
    extension('2.5.29.36', seq(implicit(0, [0])), true),
  ],
};
