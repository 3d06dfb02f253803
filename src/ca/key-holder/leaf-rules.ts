// SPDX-License-Identifier: Apache-2.0
/** The rules of a key holder for a leaf, besides the lint of every leaf. */
import { isReservedName } from '#api/signer/reserved-names.ts';
import { sameBytes } from '#base/bytes.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { quote } from '#base/quote.ts';
import {
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_COMMON_NAME,
  OID_CRL_DISTRIBUTION_POINTS,
  OID_ORGANIZATION,
  OID_ORGANIZATIONAL_UNIT,
  OID_SUBJECT_ALT_NAME,
} from '#pki/der/oids.ts';
import { authorityKeyIdentifier } from '#pki/extensions/encode-extensions.ts';
import { keyIdentifier } from '#pki/keys/public-key.ts';
import { checkKey } from '#pki/keys/weak-keys.ts';
import { canonicalDnsName, canonicalEmail, canonicalIp } from '#pki/names/canonical.ts';
import { canonicalUri } from '#pki/names/canonical-uri.ts';
import { encodeSubjectAltNames } from '#pki/names/general-names.ts';
import type { TbsCertificate } from '#pki/x509/certificate.ts';
import { encodeTbs } from '#pki/x509/encode-certificate.ts';
import type { LeafLimits, NameLimits } from './configuration.ts';

/** Limits and time by which a leaf is judged. */
export interface LeafContext {
  readonly limits: LeafLimits;
  /** Milliseconds since 1970, by the holder's clock. */
  readonly now: number;
}

/** One rule of a key holder about a leaf. */
export interface HolderRule {
  readonly name: string;
  /** Returns the problem, or undefined if the leaf keeps the rule. */
  readonly check: (
    leaf: TbsCertificate,
    context: LeafContext,
    tbs: Uint8Array,
  ) => string | undefined;
}

/**
 * Requires the bytes that our own encoder writes for the decoded fields. It refuses what a decoder
 * skips, such as unique identifiers and names in another order.
 */
const canonicalDer: HolderRule = {
  name: 'canonical-der',
  check: (leaf, _context, tbs) => {
    const again = encodeTbs({
      ...leaf,
      issuer: leaf.issuer.raw,
      subject: leaf.subject.raw,
      spki: leaf.publicKey.spki,
    });
    if (!sameBytes(again, tbs)) return 'its bytes differ from the canonical DER of its fields';
    const issuer = extensionValue(leaf, OID_AUTHORITY_KEY_IDENTIFIER);
    const keyId = leaf.authorityKeyIdentifier;
    if (keyId !== undefined && !sameBytes(issuer, authorityKeyIdentifier(keyId).value)) {
      return 'its authority key identifier names an issuer or a serial number';
    }
    const names = extensionValue(leaf, OID_SUBJECT_ALT_NAME);
    if (names === undefined || leaf.sans.other > 0) return undefined;
    return sameBytes(encodeSubjectAltNames(leaf.sans), names)
      ? undefined
      : 'its alternative names are not in canonical order';
  },
};

function extensionValue({ extensions }: TbsCertificate, wanted: string): Uint8Array | undefined {
  return extensions.find(({ oid }) => oid === wanted)?.value;
}

const longestLife: HolderRule = {
  name: 'longest-life',
  check: ({ notBefore, notAfter }, { limits }) => {
    const seconds = (notAfter - notBefore) / 1000;
    return seconds <= limits.maxDuration
      ? undefined
      : `it is valid for ${seconds} s, and the limit is ${limits.maxDuration} s`;
  },
};

const earliestStart: HolderRule = {
  name: 'earliest-start',
  check: ({ notBefore }, { limits, now }) =>
    notBefore >= now - limits.maxBackdate * 1000
      ? undefined
      : `notBefore is more than ${limits.maxBackdate} s in the past`,
};

const latestStart: HolderRule = {
  name: 'latest-start',
  check: ({ notBefore }, { limits, now }) =>
    notBefore <= now + limits.maxPostdate * 1000
      ? undefined
      : `notBefore is more than ${limits.maxPostdate} s in the future`,
};

const subjectKey: HolderRule = {
  name: 'subject-key-identifier',
  check: ({ subjectKeyIdentifier, publicKey }) =>
    sameBytes(subjectKeyIdentifier, keyIdentifier(publicKey.spki))
      ? undefined
      : 'the subject key identifier is not that of the key',
};

const allowedKey: HolderRule = {
  name: 'allowed-key',
  check: ({ publicKey }, { limits }) => {
    const { keyType } = publicKey;
    if (keyType === undefined || !limits.keyTypes.has(keyType)) {
      return `a key of type ${keyType ?? `${publicKey.algorithm} of ${publicKey.bits} bits`} is not allowed`;
    }
    const weak = attempt(() => {
      checkKey(publicKey);
    });
    return weak instanceof SignerError ? weak.message : undefined;
  },
};

const allowedUsages: HolderRule = {
  name: 'allowed-usages',
  check: ({ keyUsage, extKeyUsage }, { limits: { usages } }) => {
    // Without the extensions, RFC 5280 allows every usage and every purpose.
    if (keyUsage === undefined && usages.keyUsage.length > 0) {
      return 'it has no key usage, which allows every usage';
    }
    if (extKeyUsage === undefined && usages.extKeyUsage.length > 0) {
      return 'it has no extended key usage, which allows every purpose';
    }
    const wrong = [
      ...[...(keyUsage ?? [])].filter((bit) => !usages.keyUsage.includes(bit)),
      ...(extKeyUsage ?? []).filter((oid) => !usages.extKeyUsage.includes(oid)),
    ];
    return wrong.length === 0 ? undefined : `the usages ${wrong.join(', ')} are not allowed`;
  },
};

/** Attribute types of a subject, and the kinds of names that they are. */
const SUBJECT_KINDS: ReadonlyMap<string, keyof NameLimits> = new Map([
  [OID_COMMON_NAME, 'commonNames'],
  [OID_ORGANIZATION, 'organizations'],
  [OID_ORGANIZATIONAL_UNIT, 'organizationalUnits'],
]);

const reservedNames: HolderRule = {
  name: 'reserved-names',
  check: ({ subject }) => {
    const found = subject.attributes.find(({ value }) => isReservedName(value, []));
    return found === undefined ? undefined : `the subject has ${quote(found.value)}`;
  },
};

const CANONICAL: Readonly<Record<'dnsNames' | 'ipAddresses' | 'uris' | 'emails', Canonical>> = {
  dnsNames: canonicalDnsName,
  ipAddresses: canonicalIp,
  uris: canonicalUri,
  emails: canonicalEmail,
};

type Canonical = (text: string) => string;

const allowedNames: HolderRule = {
  name: 'allowed-names',
  check: ({ subject, sans }, { limits }) => {
    if (sans.other > 0) return `it has ${sans.other} alternative names of unsupported kinds`;
    if (subject.problems.length > 0) return `the subject has ${subject.problems.join(', ')}`;
    for (const { oid, value } of subject.attributes) {
      const kind = SUBJECT_KINDS.get(oid);
      if (kind === undefined) return `the subject has an attribute ${oid}`;
      if (!limits.names[kind](value)) return outside(kind, value);
    }
    for (const kind of ['dnsNames', 'ipAddresses', 'uris', 'emails'] as const) {
      const wrong = sans[kind].find(
        (name) => attempt(() => CANONICAL[kind](name)) !== name || !limits.names[kind](name),
      );
      if (wrong !== undefined) return outside(kind, wrong);
    }
    return undefined;
  },
};

function outside(kind: keyof NameLimits, name: string): string {
  return `${quote(name)} is not among the allowed ${kind}`;
}

const allowedDistributionPoints: HolderRule = {
  name: 'allowed-distribution-points',
  check: ({ extensions }, { limits: { distributionPoints } }) => {
    const found = extensions.find(({ oid }) => oid === OID_CRL_DISTRIBUTION_POINTS);
    if (found === undefined || sameBytes(found.value, distributionPoints)) return undefined;
    return 'its CRL distribution points are not those of crlUrls';
  },
};

/** Every rule of a key holder for a leaf. */
export const HOLDER_RULES: readonly HolderRule[] = [
  canonicalDer,
  longestLife,
  earliestStart,
  latestStart,
  subjectKey,
  allowedKey,
  allowedUsages,
  reservedNames,
  allowedNames,
  allowedDistributionPoints,
];
