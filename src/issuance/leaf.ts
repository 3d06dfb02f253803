// SPDX-License-Identifier: Apache-2.0
import { encodeTbs } from '../pki/x509/encode-certificate.ts';
import type { Random } from '../ports.ts';
import { type Issuer, newSerial } from './issuer.ts';
import type { Validity } from './validity.ts';
import type { LeafSubject } from './leaf-subject.ts';
import { encodeName } from '../pki/names/distinguished-name.ts';
import type { PublicKeyInfo, KeyAlgorithm } from '../pki/keys/public-key.ts';
import type { KeyUsage } from '../vocabulary.ts';
import {
  type Extension,
  subjectKeyIdentifier,
  authorityKeyIdentifier,
  subjectAltName,
  basicConstraints,
  keyUsage,
  extKeyUsage,
} from '../pki/extensions/encode-extensions.ts';
import { type KeyUsageBit, usageBits } from '../pki/extensions/usages.ts';

export interface LeafInput extends Omit<LeafExtensionsInput, 'issuerKeyIdentifier'> {
  readonly issuer: Issuer;
  readonly validity: Validity;
  readonly random: Random;
}

/** The to-be-signed bytes of a leaf, written and not looked at: `prepare` does that. */
export function encodeLeafTbs(input: LeafInput): Uint8Array {
  const { issuer, validity } = input;
  return encodeTbs({
    serial: newSerial(input.random),
    signatureAlgorithm: issuer.signatureAlgorithm,
    issuer: issuer.subject,
    notBefore: validity.notBefore,
    notAfter: validity.notAfter,
    subject: encodeLeafName(input.subject),
    spki: input.publicKey.spki,
    extensions: leafExtensions({ ...input, issuerKeyIdentifier: issuer.keyIdentifier }),
  });
}

/** The leaf's subject Name in DER: organizations, organizational units, common name. */
export function encodeLeafName(subject: LeafSubject): Uint8Array {
  return encodeName({
    organizations: subject.organizations,
    organizationalUnits: subject.organizationalUnits,
    commonName: subject.commonName,
  });
}

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

/**
 * What a key of this kind cannot do, and a leaf of it therefore must not say: RFC 3279 §2.3.1 for
 * RSA, RFC 5480 §3 for ECDSA, RFC 9295 §3 for Ed25519,
 * RFC 9881 §5 for ML-DSA.
 */
export const UNUSABLE_BITS: Readonly<Record<KeyAlgorithm, readonly KeyUsageBit[]>> = {
  RSA: ['keyAgreement', 'encipherOnly', 'decipherOnly'],
  ECDSA: ['keyEncipherment', 'dataEncipherment'],
  ED25519: ['keyEncipherment', 'dataEncipherment', 'keyAgreement', 'encipherOnly', 'decipherOnly'],
  MLDSA65: ['keyEncipherment', 'dataEncipherment', 'keyAgreement', 'encipherOnly', 'decipherOnly'],
};
