// SPDX-License-Identifier: Apache-2.0
import type { LeafSubject, KeyUsage } from '#base/vocabulary.ts';
import type { PublicKeyInfo, KeyAlgorithm } from '#pki/keys/public-key.ts';
import {
  type Extension,
  subjectKeyIdentifier,
  authorityKeyIdentifier,
  subjectAltName,
  basicConstraints,
  keyUsage,
  extKeyUsage,
  crlDistributionPoints,
} from '#pki/extensions/encode-extensions.ts';
import { UNUSABLE_BITS, usageBits } from '#pki/extensions/usages.ts';

/** The inputs for the extensions of a leaf. */
export interface LeafExtensionsInput {
  readonly subject: LeafSubject;
  readonly publicKey: PublicKeyInfo;
  readonly usages: readonly KeyUsage[];
  readonly issuerKeyIdentifier: Uint8Array;
  /** The URLs of the CRL (`profile.crl.urls` for this CA). Absent if the leaf names none. */
  readonly crlUrls?: readonly string[];
}

/**
 * Returns the extensions of a leaf in the order that Go uses: key usage, extended key usage, basic
 * constraints CA:FALSE, key identifiers, subject alternative names (critical under an empty
 * subject, RFC 5280 §4.2.1.6), CRL distribution points.
 *
 * It never copies or adds another extension. It omits usages that a key of this type cannot have,
 * because one profile serves several key types.
 */
export function leafExtensions(input: LeafExtensionsInput): readonly Extension[] {
  const { subject, publicKey } = input;
  const sans = {
    dnsNames: subject.dnsNames,
    ipAddresses: subject.ipAddresses,
    uris: subject.uris,
    emails: subject.emails,
  };
  const hasSans = Object.values(sans).some((values) => values.length > 0);
  const emptyName =
    subject.commonName === '' &&
    subject.organizations.length === 0 &&
    subject.organizationalUnits.length === 0;
  return [
    ...usageExtensions(input.usages, publicKey.algorithm),
    END_ENTITY,
    subjectKeyIdentifier(publicKey.spki),
    authorityKeyIdentifier(input.issuerKeyIdentifier),
    ...(hasSans ? [subjectAltName(sans, emptyName)] : []),
    ...(input.crlUrls === undefined ? [] : [crlDistributionPoints(input.crlUrls)]),
  ];
}

const END_ENTITY = basicConstraints({ ca: false });

type ByAlgorithm = Map<KeyAlgorithm, readonly Extension[]>;

/** A cache by the usages of a profile, which are one immutable object for all its leaves. */
const usageExtensionCache = new WeakMap<readonly KeyUsage[], ByAlgorithm>();

function usageExtensions(
  wanted: readonly KeyUsage[],
  algorithm: KeyAlgorithm,
): readonly Extension[] {
  const known = usageExtensionCache.get(wanted) ?? new Map<KeyAlgorithm, readonly Extension[]>();
  const before = known.get(algorithm);
  if (before !== undefined) return before;
  const usages = usageBits(wanted);
  const unusable = UNUSABLE_BITS[algorithm];
  const bits = usages.keyUsage.filter((bit) => !unusable.includes(bit));
  const extensions = [
    ...(bits.length > 0 ? [keyUsage(bits)] : []),
    ...(usages.extKeyUsage.length > 0 ? [extKeyUsage(usages.extKeyUsage)] : []),
  ];
  usageExtensionCache.set(wanted, known.set(algorithm, extensions));
  return extensions;
}
