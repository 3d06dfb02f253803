// SPDX-License-Identifier: Apache-2.0
/** Reads fields with pkijs, which also accepts objects that Countersign's strict reader rejects. */
import { membersOf } from '#base/record.ts';
import { createHash, createPublicKey } from 'node:crypto';
import type { Integer } from 'asn1js';
import {
  AltName,
  AuthorityKeyIdentifier,
  BasicConstraints,
  CRLDistributionPoints,
  ExtKeyUsage,
  InfoAccess,
  type Extension,
  type GeneralName,
  type RelativeDistinguishedNames,
} from 'pkijs';
import { formatIp } from '#base/ip.ts';
import { nameText } from '#pki/names/distinguished-name.ts';
import type { DecodedSubjectAltNames } from '#pki/names/general-names.ts';
import { KEY_USAGE_BITS } from '#pki/extensions/usages.ts';
import type { InspectedExtension, InspectedExtensions, InspectedKey } from './inspected.ts';
import {
  EXTENSION_NAMES,
  OID_CA_ISSUERS,
  OID_OCSP,
  PURPOSE_NAMES,
  SIGNATURE_NAMES,
} from './oid-names.ts';

/** Returns a Name as RFC 4514 text, last attribute first. */
export function nameOf({ typesAndValues }: RelativeDistinguishedNames): string {
  return nameText({
    raw: new Uint8Array(),
    problems: [],
    attributes: typesAndValues.map(({ type, value }) => ({
      oid: type,
      value: value.valueBlock.value,
      stringType: 'UTF8String',
    })),
  });
}

/** Returns the octets of an INTEGER in hexadecimal, without the leading zero octet. */
export function hexOf(integer: Integer): string {
  const digits = Buffer.from(integer.valueBlock.valueHexView).toString('hex');
  return digits.length > 2 ? digits.replace(/^00/, '') : digits;
}

/** Returns the name of a signature algorithm, or its OID. */
export function signatureName(oid: string): string {
  return SIGNATURE_NAMES.get(oid) ?? oid;
}

/**
 * Describes a public key.
 *
 * @param spki - DER SubjectPublicKeyInfo
 * @param oid - OID of its algorithm
 */
export function keyOfSpki(spki: Uint8Array, oid: string): InspectedKey {
  const sha256 = createHash('sha256').update(spki).digest('hex');
  return { type: keyType(spki) ?? SIGNATURE_NAMES.get(oid) ?? oid, sha256 };
}

const CURVE_NAMES: ReadonlyMap<string, string> = new Map([
  ['prime256v1', 'P-256'],
  ['secp384r1', 'P-384'],
  ['secp521r1', 'P-521'],
]);

function keyType(spki: Uint8Array): string | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
    const { modulusLength, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
    const type = key.asymmetricKeyType;
    if (type === 'rsa') return `RSA ${modulusLength ?? '?'}`;
    if (type === 'ec') return `ECDSA ${CURVE_NAMES.get(namedCurve) ?? namedCurve}`;
    return type === 'ed25519' ? 'Ed25519' : type;
  } catch {
    return undefined;
  }
}

/** Returns the values of the extensions. */
export function extensionsOf(all: readonly Extension[]): InspectedExtensions {
  const parsed = <T>(type: new () => T): T | undefined =>
    all
      .map(({ parsedValue }): unknown => parsedValue)
      .find((each): each is T => each instanceof type);
  const constraints = parsed(BasicConstraints);
  const access = parsed(InfoAccess)?.accessDescriptions ?? [];
  const urls = (method: string): readonly string[] =>
    access
      .filter(({ accessMethod }) => accessMethod === method)
      .map(({ accessLocation }) => String(accessLocation.value));
  const crls = (parsed(CRLDistributionPoints)?.distributionPoints ?? []).flatMap(
    ({ distributionPoint: names }) => (Array.isArray(names) ? names : []).map(uriOf),
  );
  return withoutUndefined({
    names: namesOf(all),
    keyUsage: keyUsageOf(all),
    extKeyUsage: parsed(ExtKeyUsage)?.keyPurposes.map((oid) => PURPOSE_NAMES.get(oid) ?? oid),
    isCa: constraints?.cA ?? false,
    pathLen: pathLenOf(constraints),
    subjectKeyIdentifier: octetsOf(all.find(({ extnID }) => extnID === '2.5.29.14')?.parsedValue),
    authorityKeyIdentifier: octetsOf(parsed(AuthorityKeyIdentifier)?.keyIdentifier),
    crls: some(crls),
    ocsp: some(urls(OID_OCSP)),
    issuers: some(urls(OID_CA_ISSUERS)),
    extensions: all.map(extensionOf),
  });
}

function extensionOf({ extnID: oid, critical }: Extension): InspectedExtension {
  const name = EXTENSION_NAMES.get(oid);
  return { oid, ...(name === undefined ? {} : { name }), critical };
}

function namesOf(all: readonly Extension[]): DecodedSubjectAltNames {
  const value: unknown = all.find(({ extnID }) => extnID === '2.5.29.17')?.parsedValue;
  const names = value instanceof AltName ? value.altNames : [];
  const texts = (type: number): string[] =>
    names.filter((each) => each.type === type).map(({ value: text }) => String(text));
  return {
    emails: texts(1),
    dnsNames: texts(2),
    uris: texts(6),
    ipAddresses: names.filter(({ type }) => type === 7).map(addressOf),
    other: names.filter(({ type }) => ![1, 2, 6, 7].includes(type)).length,
  };
}

function addressOf(name: GeneralName): string {
  const octets = Buffer.from(octetsOf(name.value) ?? '', 'hex');
  return formatIp(octets) ?? octets.toString('hex');
}

function uriOf(name: GeneralName): string {
  return name.type === 6 ? String(name.value) : '(not a URI)';
}

/** Returns the key usages. RFC 5280 §4.2.1.3 orders the bits, the first in the highest bit. */
function keyUsageOf(all: readonly Extension[]): readonly string[] | undefined {
  const value: unknown = all.find(({ extnID }) => extnID === '2.5.29.15')?.parsedValue;
  const octets = Buffer.from(octetsOf(value) ?? '', 'hex');
  if (value === undefined) return undefined;
  return KEY_USAGE_BITS.filter((_, bit) => ((octets[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0);
}

function pathLenOf(constraints: BasicConstraints | undefined): number | undefined {
  const { pathLenConstraint: length } = constraints ?? {};
  if (length === undefined || typeof length === 'number') return length;
  return length.valueBlock.valueDec;
}

/** Returns the contents of an ASN.1 primitive in hexadecimal. */
function octetsOf(value: unknown): string | undefined {
  const { valueHexView: octets } = membersOf(membersOf(value)['valueBlock']);
  return octets instanceof Uint8Array ? Buffer.from(octets).toString('hex') : undefined;
}

function some<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** Returns the value without undefined fields, which JSON lacks. */
function withoutUndefined<T extends object>(value: {
  readonly [K in keyof T]: T[K] | undefined;
}): T {
  // Callers leave undefined only the members that T may lack.
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;
}
