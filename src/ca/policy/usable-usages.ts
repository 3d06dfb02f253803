// SPDX-License-Identifier: Apache-2.0
import type { KeyAlgorithm } from '#pki/keys/public-key.ts';
import { UNUSABLE_BITS, bitOf, isPurpose, type KeyUsageBit } from '#pki/extensions/usages.ts';

/**
 * Returns the usages that a key of this type can have. No leaf gets the others (leafExtensions), so
 * neither a profile nor a rule needs to allow them. Go clients, kubeadm and cert-manager request
 * `key encipherment` for keys of any type.
 *
 * @param usages - `spec.usages`. A name that Kubernetes does not know remains.
 */
export function usableUsages(
  usages: readonly string[],
  algorithm: KeyAlgorithm,
): readonly string[] {
  return usages.filter((usage) => {
    const bit = bitOf(usage);
    return bit === undefined || isUsableBit(bit, algorithm);
  });
}

/** The purposes that verifiers of TLS require. */
const TLS_PURPOSES = ['client auth', 'server auth'];

/**
 * Returns the purposes that must be allowed for a request without a purpose, and are not. Its leaf
 * has no extendedKeyUsage extension, so it is valid for every purpose (RFC 5280 §4.2.1.12): with
 * fewer usages it would permit more. Allowed usages without a purpose permit such leaves.
 *
 * @param usages - what the request has
 * @param allowed - the usages of a profile or a rule
 */
export function missingPurposes(
  usages: readonly string[],
  allowed: readonly string[],
): readonly string[] {
  if (usages.some(isPurpose) || !allowed.some(isPurpose)) return [];
  return TLS_PURPOSES.filter((purpose) => !allowed.includes(purpose));
}

/** Reports whether a key of this type can have the key usage. */
export function isUsableBit(bit: KeyUsageBit, algorithm: KeyAlgorithm): boolean {
  return !UNUSABLE_BITS[algorithm].includes(bit);
}
