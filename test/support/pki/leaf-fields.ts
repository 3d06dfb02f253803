// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check';
import { formatIp } from '#base/ip.ts';
import {
  authorityKeyIdentifier,
  basicConstraints,
  extKeyUsage,
  keyUsage,
  subjectAltName,
  subjectKeyIdentifier,
  type Extension,
} from '#pki/extensions/encode-extensions.ts';
import type { SubjectAltNames } from '#pki/names/general-names.ts';
import type { NameParts } from '#pki/names/distinguished-name.ts';
import { KEY_USAGE_BITS, type KeyUsageBit } from '#pki/extensions/usages.ts';

/** Arbitrary fields of certificates: what a profile could make, and more. */
export interface LeafFields {
  readonly serial: Uint8Array;
  readonly issuer: NameParts;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly subject: NameParts;
  readonly bits: readonly KeyUsageBit[];
  /** The same bits as an encoder of its own writes them. */
  readonly keyUsage: { readonly octets: Uint8Array; readonly unused: number };
  readonly extKeyUsage: readonly string[];
  readonly ca: boolean;
  readonly pathLen: number | undefined;
  readonly authorityKeyId: Uint8Array;
  readonly sans: SubjectAltNames;
  readonly sansCritical: boolean;
}

export function nameParts(commonName: string): NameParts {
  return { commonName, organizations: [], organizationalUnits: [] };
}

/** Of PrintableString and beyond, never with control characters or half surrogates. */
const text = fc
  .oneof(
    fc.stringMatching(/^[A-Za-z0-9 '()+,\-./:=?]{1,40}$/),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
  )
  .filter((value) => !/\p{Cc}/u.test(value));

export const name: fc.Arbitrary<NameParts> = fc.record({
  commonName: fc.oneof(fc.constant(''), text),
  organizations: fc.array(text, { maxLength: 3 }),
  organizationalUnits: fc.array(text, { maxLength: 3 }),
});

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
const host = fc
  .array(label, { minLength: 2, maxLength: 4 })
  .map((labels) => `${labels.join('.')}.x`);
const address = fc
  .oneof(
    fc.uint8Array({ minLength: 4, maxLength: 4 }),
    fc.uint8Array({ minLength: 16, maxLength: 16 }),
    fc.uint8Array({ minLength: 16, maxLength: 16, max: 1 }),
  )
  .map((bytes) => formatIp(bytes) ?? '');

/** At least one name: an empty subjectAltName may not be. */
export const sans: fc.Arbitrary<SubjectAltNames> = fc
  .record({
    dnsNames: fc.array(host, { maxLength: 5 }),
    ipAddresses: fc.array(address, { maxLength: 5 }),
    uris: fc.array(
      fc.tuple(host, label).map(([domain, path]) => `spiffe://${domain}/ns/${path}`),
      { maxLength: 5 },
    ),
    emails: fc.array(
      host.map((domain) => `mail@${domain}`),
      { maxLength: 5 },
    ),
  })
  .filter((lists) => Object.values(lists).some((names) => names.length > 0));

const BORDER = Date.UTC(2050, 0, 1) / 1000;

/** Of the years that certificates can say, and often where UTCTime ends (RFC 5280 §4.1.2.5). */
export const second = fc
  .oneof(
    fc.integer({ min: Date.UTC(1950, 0, 1) / 1000, max: Date.UTC(9999, 11, 31) / 1000 }),
    fc.integer({ min: Date.UTC(2020, 0, 1) / 1000, max: Date.UTC(2080, 0, 1) / 1000 }),
    fc.integer({ min: BORDER - 2, max: BORDER + 1 }),
  )
  .map((seconds) => seconds * 1000);

const oid = fc
  .array(fc.integer({ min: 0, max: 0x7fffffff }), { minLength: 1, maxLength: 6 })
  .map((arcs) => ['1.3', ...arcs].join('.'));

const bits = fc.subarray([...KEY_USAGE_BITS], { minLength: 1 });

export const leafFields: fc.Arbitrary<LeafFields> = fc
  .record({
    serial: fc
      .tuple(fc.integer({ min: 1, max: 0xff }), fc.uint8Array({ maxLength: 18 }))
      .map(([first, rest]) => Uint8Array.of(first, ...rest)),
    issuer: name,
    notBefore: second,
    notAfter: second,
    subject: name,
    bits,
    extKeyUsage: fc.array(oid, { minLength: 1, maxLength: 4 }),
    constraints: fc.oneof(
      fc.constant({ ca: false, pathLen: undefined }),
      fc.record({ ca: fc.constant(true), pathLen: fc.option(fc.nat(127), { nil: undefined }) }),
    ),
    authorityKeyId: fc.uint8Array({ minLength: 1, maxLength: 64 }),
    sans,
    sansCritical: fc.boolean(),
  })
  .map(({ constraints, ...fields }) => ({
    ...fields,
    ...constraints,
    keyUsage: bitString(fields.bits),
  }));

/** By an encoder of its own. */
export function bitString(of: readonly KeyUsageBit[]): LeafFields['keyUsage'] {
  const digits = KEY_USAGE_BITS.map((bit) => (of.includes(bit) ? '1' : '0'))
    .join('')
    .replace(/0+$/, '');
  const whole = digits.padEnd(Math.ceil(digits.length / 8) * 8, '0');
  const octets = Uint8Array.from(whole.match(/.{8}/g) ?? [], (octet) => Number.parseInt(octet, 2));
  return { octets, unused: whole.length - digits.length };
}

/** The extensions of the fields, by the encoders under test. */
export function toExtensions(fields: LeafFields, spki: Uint8Array): readonly Extension[] {
  const { ca, pathLen } = fields;
  return [
    keyUsage(fields.bits),
    extKeyUsage(fields.extKeyUsage),
    basicConstraints(pathLen === undefined ? { ca } : { ca, pathLen }),
    subjectKeyIdentifier(spki),
    authorityKeyIdentifier(fields.authorityKeyId),
    subjectAltName(fields.sans, fields.sansCritical),
  ];
}
