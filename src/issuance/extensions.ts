// SPDX-License-Identifier: Apache-2.0
import {
  authorityKeyIdentifier,
  basicConstraints,
  extKeyUsage,
  keyUsage,
  subjectAltName,
  subjectKeyIdentifier,
  type Extension,
} from '../pki/extensions/encode-extensions.ts';
import type { KeyAlgorithm, PublicKeyInfo } from '../pki/keys/public-key.ts';
import { usageBits } from '../pki/extensions/usages.ts';
import type { KeyUsage } from '../vocabulary.ts';
import type { LeafSubject } from './leaf-subject.ts';
import { UNUSABLE_BITS } from './unusable-bits.ts';

export interface LeafExtensionsInput {
  readonly subject: LeafSubject;
  readonly publicKey: PublicKeyInfo;
  readonly usages: readonly KeyUsage[];
  readonly issuerKeyIdentifier: Uint8Array;
}

/**
 * The extensions of a leaf, in the order Go writes them: key usage, extended key usage, basic
 * constraints CA:FALSE, key identifiers, subject alternative names (critical under an empty
 * subject, RFC 5280 §4.2.1.6). No other extension is ever copied or added. A usage that a key of this
 * kind cannot have is left out: one profile serves several kinds.
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
  ];
}

const END_ENTITY = basicConstraints({ ca: false });

type ByAlgorithm = Map<KeyAlgorithm, readonly Extension[]>;

/** A profile's list is the same object for all its leaves, and is never changed. */
const made = new WeakMap<readonly KeyUsage[], ByAlgorithm>();

function usageExtensions(
  wanted: readonly KeyUsage[],
  algorithm: KeyAlgorithm,
): readonly Extension[] {
  const known = made.get(wanted) ?? (new Map() as ByAlgorithm);
  const before = known.get(algorithm);
  if (before !== undefined) return before;
  const usages = usageBits(wanted);
  const unusable = UNUSABLE_BITS[algorithm];
  const bits = usages.keyUsage.filter((bit) => !unusable.includes(bit));
  const extensions = [
    ...(bits.length > 0 ? [keyUsage(bits)] : []),
    ...(usages.extKeyUsage.length > 0 ? [extKeyUsage(usages.extKeyUsage)] : []),
  ];
  made.set(wanted, known.set(algorithm, extensions));
  return extensions;
}
