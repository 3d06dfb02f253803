// SPDX-License-Identifier: Apache-2.0
import { isKeyOf } from '#base/object-keys.ts';
import { quote } from '#base/quote.ts';
import { KEY_USAGES, type KeyUsage } from '#base/vocabulary.ts';
import {
  OID_ANY_EXTENDED_KEY_USAGE,
  OID_CLIENT_AUTH,
  OID_CODE_SIGNING,
  OID_EMAIL_PROTECTION,
  OID_IPSEC_END_SYSTEM,
  OID_IPSEC_TUNNEL,
  OID_IPSEC_USER,
  OID_MICROSOFT_SGC,
  OID_NETSCAPE_SGC,
  OID_OCSP_SIGNING,
  OID_SERVER_AUTH,
  OID_TIME_STAMPING,
} from '../der/oids.ts';
import { inputError } from '../der/input-error.ts';
import type { KeyAlgorithm } from '../keys/public-key.ts';

/**
 * The key usages of kube-controller-manager (pkg/controller/certificates/signer,
 * keyUsagesFromStrings).
 */
const BITS: Readonly<Partial<Record<KeyUsage, KeyUsageBit>>> = {
  signing: 'digitalSignature',
  'digital signature': 'digitalSignature',
  'content commitment': 'nonRepudiation',
  'key encipherment': 'keyEncipherment',
  'key agreement': 'keyAgreement',
  'data encipherment': 'dataEncipherment',
  'cert sign': 'keyCertSign',
  'crl sign': 'cRLSign',
  'encipher only': 'encipherOnly',
  'decipher only': 'decipherOnly',
};

/** The purposes in the order of Go's x509.ExtKeyUsage, which kube-controller-manager uses. */
const PURPOSES: Readonly<Partial<Record<KeyUsage, string>>> = {
  any: OID_ANY_EXTENDED_KEY_USAGE,
  'server auth': OID_SERVER_AUTH,
  'client auth': OID_CLIENT_AUTH,
  'code signing': OID_CODE_SIGNING,
  'email protection': OID_EMAIL_PROTECTION,
  's/mime': OID_EMAIL_PROTECTION,
  'ipsec end system': OID_IPSEC_END_SYSTEM,
  'ipsec tunnel': OID_IPSEC_TUNNEL,
  'ipsec user': OID_IPSEC_USER,
  timestamping: OID_TIME_STAMPING,
  'ocsp signing': OID_OCSP_SIGNING,
  'microsoft sgc': OID_MICROSOFT_SGC,
  'netscape sgc': OID_NETSCAPE_SGC,
};

/** The usages of a certificate as its extensions encode them. */
export interface UsageBits {
  readonly keyUsage: readonly KeyUsageBit[];
  /** OIDs of purposes. */
  readonly extKeyUsage: readonly string[];
}

/**
 * Returns the bits and purposes for usage names of the Kubernetes API, each once, in a fixed order.
 *
 * @param usages - values of KeyUsage in certificates.k8s.io/v1, as in `server auth`
 * @throws SignerError USAGE_UNKNOWN for any other value
 */
export function usageBits(usages: readonly string[]): UsageBits {
  const wanted = new Set(usages);
  for (const usage of wanted) {
    if (!KEY_USAGES.some((known) => known === usage)) {
      throw inputError(
        'USAGE_UNKNOWN',
        `the usage ${quote(usage)} is not one of certificates.k8s.io/v1`,
      );
    }
  }
  return { keyUsage: pick(BITS, wanted), extKeyUsage: pick(PURPOSES, wanted) };
}

function pick<T extends string>(
  table: Readonly<Partial<Record<KeyUsage, T>>>,
  wanted: ReadonlySet<string>,
): readonly T[] {
  const found = Object.entries(table).filter(([usage]) => wanted.has(usage));
  return [...new Set(found.map(([, value]) => value))];
}

/** Returns the bit of a usage. Undefined for purposes and unknown names. */
export function bitOf(usage: string): KeyUsageBit | undefined {
  return isKeyOf(BITS, usage) ? BITS[usage] : undefined;
}

/** Reports whether a usage is a purpose, which the extendedKeyUsage extension names. */
export function isPurpose(usage: string): boolean {
  return Object.hasOwn(PURPOSES, usage);
}

/** Returns the usage of the Kubernetes API that stands for a KeyUsage bit. */
export function usageOfBit(bit: KeyUsageBit): KeyUsage | undefined {
  return usageOf(BITS, bit);
}

/** Returns the usage of the Kubernetes API for the OID of a purpose, if it has one. */
export function usageOfPurpose(oid: string): KeyUsage | undefined {
  return usageOf(PURPOSES, oid);
}

/** Second names of a bit or a purpose: `digital signature` and `email protection` are the usual. */
const ALIASES: ReadonlySet<KeyUsage> = new Set(['signing', 's/mime']);

function usageOf<T extends string>(
  table: Readonly<Partial<Record<KeyUsage, T>>>,
  value: string,
): KeyUsage | undefined {
  return KEY_USAGES.find((usage) => table[usage] === value && !ALIASES.has(usage));
}

/** The names of the KeyUsage bits, by bit number (RFC 5280 §4.2.1.3). */
export const KEY_USAGE_BITS = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
] as const;

/** The name of a KeyUsage bit. */
export type KeyUsageBit = (typeof KEY_USAGE_BITS)[number];

/**
 * Key usages that a key of each algorithm cannot perform, so that a certificate must not assert
 * them. RFC 3279 §2.3.1 for RSA, RFC 5480 §3 for ECDSA, RFC 9295 §3 for Ed25519, RFC 9881 §5 for
 * ML-DSA.
 */
export const UNUSABLE_BITS: Readonly<Record<KeyAlgorithm, readonly KeyUsageBit[]>> = {
  RSA: ['keyAgreement', 'encipherOnly', 'decipherOnly'],
  ECDSA: ['keyEncipherment', 'dataEncipherment'],
  ED25519: ['keyEncipherment', 'dataEncipherment', 'keyAgreement', 'encipherOnly', 'decipherOnly'],
  MLDSA65: ['keyEncipherment', 'dataEncipherment', 'keyAgreement', 'encipherOnly', 'decipherOnly'],
};
