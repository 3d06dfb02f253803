// SPDX-License-Identifier: Apache-2.0
import { san, link, ca, usage } from '../support/pki/chain.ts';
import {
  explicit,
  extension,
  implicit,
  oid,
  rdn,
  seq,
  set,
  tlv,
  utf8,
} from '../support/pki/der.ts';
import { extensionRequest } from '../support/pki/request-der.ts';
import { COMMON_NAME, NAMES, ORGANIZATION, certificate, request } from './corpus/bases.ts';
import type { Case } from './corpus/case.ts';
import { nested } from './corpus/other-extensions.ts';

/** Files that grow: the largest is four times the smallest. */
export interface Family {
  readonly kind: Case['kind'];
  /** The smallest. */
  readonly size: number;
  readonly make: (size: number) => Uint8Array;
}

const CHALLENGE = oid('1.2.840.113549.1.9.7');
const LABEL = 'CERTIFICATE REQUEST';

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const asking = (extensionDer: Uint8Array): Uint8Array =>
  request({ attributes: [extensionRequest(extensionDer)] });
const names = (kind: number, make: (index: number) => string) => (size: number) =>
  asking(san(...times(size, (index) => [kind, make(index)] as const)));
const name = (kind: number, make: (size: number) => string) => (size: number) =>
  asking(san([kind, make(size)]));
const text = (make: (size: number) => string) => (size: number) => Buffer.from(make(size));
const subtrees = (count: number): Uint8Array =>
  extension(
    '2.5.29.30',
    seq(explicit(1, ...times(count, (i) => seq(implicit(2, Buffer.from(`bad${i}.example`)))))),
    true,
  );

const requests: Readonly<Record<string, Omit<Family, 'kind'>>> = {
  'DNS names that are all read': { size: 250, make: names(2, (i) => `n${i}.example`) },
  'DNS names, 10,000 of them': { size: 2500, make: names(2, (i) => `n${i}.example`) },
  'URIs that are all read': { size: 250, make: names(6, (i) => `spiffe://a/ns/${i}`) },
  'URIs of many segments that are all read': {
    size: 12,
    make: names(6, () => `spiffe://a${'/a'.repeat(1000)}`),
  },
  'mail addresses that are all read': { size: 250, make: names(1, (i) => `a${i}@b.example`) },
  'a DNS name of a megabyte': { size: 250_000, make: name(2, (size) => 'a.'.repeat(size / 2)) },
  'a DNS name of hyphens': { size: 250_000, make: name(2, (size) => '-'.repeat(size)) },
  'a URI of a megabyte': {
    size: 250_000,
    make: name(6, (size) => `spiffe://a/${'b/'.repeat(size / 2)}`),
  },
  'a URI of dots': { size: 250_000, make: name(6, (size) => `https://${'.'.repeat(size)}/`) },
  'a URI of percents': {
    size: 250_000,
    make: name(6, (size) => `https://a/${'%41'.repeat(size / 3)}`),
  },
  'a URI of ats': { size: 250_000, make: name(6, (size) => `https://${'@'.repeat(size)}`) },
  'a mail address of a megabyte': {
    size: 250_000,
    make: name(1, (size) => `${'a.'.repeat(size / 2)}a@b`),
  },
  'a mail address of ats': { size: 250_000, make: name(1, (size) => '@'.repeat(size)) },
  'a common name of a megabyte': {
    size: 250_000,
    make: (size) => request({ subject: seq(rdn(COMMON_NAME, utf8('a '.repeat(size / 2)))) }),
  },
  'a common name of blanks': {
    size: 250_000,
    make: (size) => request({ subject: seq(rdn(COMMON_NAME, utf8(`a${' '.repeat(size)}b`))) }),
  },
  'a common name of combining marks': {
    size: 250_000,
    make: (size) =>
      request({ subject: seq(rdn(COMMON_NAME, utf8('\u0301\u0323'.repeat(size / 4)))) }),
  },
  'a common name of ligatures': {
    size: 250_000,
    make: (size) => request({ subject: seq(rdn(COMMON_NAME, utf8('\ufdfa'.repeat(size / 3)))) }),
  },
  'bits of keyUsage': {
    size: 375_000,
    make: (size) => asking(usage(new Uint8Array(size).fill(0xff), 0)),
  },
  organizations: {
    size: 60,
    make: (size) =>
      request({ subject: seq(...times(size, (i) => rdn(ORGANIZATION, utf8(`o${i}`)))) }),
  },
  'organizations in one relative name': {
    size: 2500,
    make: (size) =>
      request({
        subject: seq(
          set(
            ...times(size, (i) => seq(oid(ORGANIZATION), utf8(`o${String(i).padStart(6, '0')}`))),
          ),
        ),
      }),
  },
  'an OID of 254 KB': {
    size: 63_500,
    make: (size) =>
      request({ subject: seq(set(seq(tlv(0x06, new Uint8Array(size).fill(1)), utf8('a')))) }),
  },
  'an arc of 254 KB': {
    size: 63_500,
    make: (size) =>
      request({ subject: seq(set(seq(tlv(0x06, new Uint8Array(size).fill(0xff)), utf8('a')))) }),
  },
  'SEQUENCEs in each other': {
    size: 1000,
    make: (size) => asking(extension('2.5.29.17', nested(size))),
  },
  'SEQUENCEs in each other as an attribute': {
    size: 1000,
    make: (size) => request({ attributes: [seq(CHALLENGE, set(nested(size)))] }),
  },
  'a challenge of 1.5 MB': {
    size: 375_000,
    make: (size) => request({ attributes: [seq(CHALLENGE, set(utf8('a'.repeat(size))))] }),
  },
  attributes: {
    size: 2500,
    make: (size) =>
      request({ attributes: times(size, (i) => seq(oid(`1.2.3.${i}`), set(utf8('a')))) }),
  },
  extensions: {
    size: 2500,
    make: (size) =>
      request({
        attributes: [extensionRequest(...times(size, (i) => extension(`1.2.3.${i}`, [])))],
      }),
  },
  purposes: {
    size: 2500,
    make: (size) => asking(extension('2.5.29.37', seq(...times(size, (i) => oid(`1.2.3.${i}`))))),
  },
  policies: {
    size: 1250,
    make: (size) =>
      asking(extension('2.5.29.32', seq(...times(size, (i) => seq(oid(`1.2.3.${i}`)))))),
  },
  'a modulus': {
    size: 4000,
    make: (size) =>
      request({
        spki: seq(
          seq(oid('1.2.840.113549.1.1.1'), tlv(0x05)),
          tlv(0x03, [0], seq(tlv(0x02, new Uint8Array(size).fill(0x7f)), tlv(0x02, [1, 0, 1]))),
        ),
      }),
  },
};

const certificates: Readonly<Record<string, Omit<Family, 'kind'>>> = {
  'constraints of a CA': {
    size: 25,
    make: (size) => link('x', { extensions: [ca(), subtrees(size), NAMES] }).certificate.raw,
  },
  'alternative names of a certificate': {
    size: 250,
    make: (size) =>
      certificate({ extensions: [san(...times(size, (i) => [2, `n${i}.example`] as const))] }),
  },
  'extensions of a certificate': {
    size: 2500,
    make: (size) => certificate({ extensions: times(size, (i) => extension(`1.2.3.${i}`, [])) }),
  },
};

const texts: Readonly<Record<string, Omit<Family, 'kind'>>> = {
  BEGINs: { size: 10_000, make: text((size) => `-----BEGIN ${LABEL}-----\n`.repeat(size)) },
  'BEGINs without a label': { size: 30_000, make: text((size) => '-----BEGIN '.repeat(size)) },
  ENDs: {
    size: 20_000,
    make: text((size) => `-----BEGIN ${LABEL}-----\n${'-----END X-----\n'.repeat(size)}`),
  },
  dashes: { size: 375_000, make: text((size) => '-'.repeat(size)) },
  'dashes in a block': {
    size: 375_000,
    make: text((size) => `-----BEGIN ${LABEL}-----\n${'-'.repeat(size)}`),
  },
  blocks: {
    size: 3000,
    make: text((size) => `-----BEGIN ${LABEL}-----\nAAAA\n-----END ${LABEL}-----\n`.repeat(size)),
  },
  blanks: { size: 375_000, make: text((size) => ' '.repeat(size)) },
  'blanks after BEGIN': {
    size: 375_000,
    make: text((size) => `-----BEGIN ${LABEL}-----${' '.repeat(size)}x`),
  },
  'blanks after END': {
    size: 375_000,
    make: text(
      (size) => `-----BEGIN ${LABEL}-----\nAAAA\n-----END ${LABEL}-----${' '.repeat(size)}x`,
    ),
  },
  'blanks in a block': {
    size: 375_000,
    make: text(
      (size) => `-----BEGIN ${LABEL}-----\n${' \n'.repeat(size / 2)}-----END ${LABEL}-----`,
    ),
  },
  'base64 of a megabyte': {
    size: 375_000,
    make: text((size) => `-----BEGIN ${LABEL}-----\n${'A'.repeat(size)}\n-----END ${LABEL}-----\n`),
  },
  'carriage returns': { size: 375_000, make: text((size) => '\r'.repeat(size)) },
};

const of = (
  kind: Case['kind'],
  some: Readonly<Record<string, Omit<Family, 'kind'>>>,
): readonly (readonly [string, Family])[] =>
  Object.entries(some).map(([what, family]) => [what, { kind, ...family }] as const);

export const FAMILIES: ReadonlyMap<string, Family> = new Map([
  ...of('request', requests),
  ...of('certificate', certificates),
  ...of('pem', texts),
]);
