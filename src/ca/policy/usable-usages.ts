// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '#base/errors.ts';
import type { KeyAlgorithm } from '#pki/keys/public-key.ts';
import { UNUSABLE_BITS, usageBits, type KeyUsageBit } from '#pki/extensions/usages.ts';

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
    const bits = attempt(() => usageBits([usage]));
    if (bits instanceof SignerError || bits.keyUsage.length === 0) return true;
    return bits.keyUsage.some((bit) => isUsableBit(bit, algorithm));
  });
}

/** Reports whether a key of this type can have the key usage. */
export function isUsableBit(bit: KeyUsageBit, algorithm: KeyAlgorithm): boolean {
  return !UNUSABLE_BITS[algorithm].includes(bit);
}
