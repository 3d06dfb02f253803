// SPDX-License-Identifier: Apache-2.0
import { REFUSED_USAGES } from '#base/vocabulary.ts';
import type { PublicKeyInfo } from '#pki/keys/public-key.ts';
import { isPurpose } from '#pki/extensions/usages.ts';
import type { ViolationRule } from './violation.ts';
import { missingPurposes, usableUsages } from '../usable-usages.ts';
import * as messages from '../denial-messages.ts';

/**
 * Requires usages of the profile, because a leaf gets the usages of `spec.usages`, except those
 * that a key of its type cannot have. certificateSigning reports those that no profile can have.
 */
export const usages: ViolationRule = ({ csr, request, profile }) => {
  const requested = csr.spec.usages ?? [];
  const usable = usableUsages(requested, request.publicKey.algorithm);
  const known: readonly string[] = [...profile.usages, ...REFUSED_USAGES];
  const outside = usable.filter((usage) => !known.includes(usage));
  if (outside.length > 0) {
    const message = messages.usagesNotAllowed(outside, profile.usages);
    return { reason: 'UsageNotAllowed', message };
  }
  if (usable.length > 0) {
    const missing = missingPurposes(usable, profile.usages);
    if (missing.length === 0) return undefined;
    const message = messages.noPurpose(profile.usages.filter(isPurpose), missing);
    return { reason: 'UsageNotAllowed', message };
  }
  return {
    reason: 'UsageNotAllowed',
    message: noUsages(requested, request.publicKey, profile.usages),
  };
};

function noUsages(
  requested: readonly string[],
  { algorithm }: PublicKeyInfo,
  allowed: readonly string[],
): string {
  return requested.length === 0
    ? messages.noUsages(allowed)
    : messages.uselessUsages(requested, algorithm, allowed);
}

/**
 * Rejects usages that would let a leaf sign certificates or CRLs, or lift every limit, in the API
 * or in PKCS#10.
 */
export const certificateSigning: ViolationRule = ({ csr, request }) => {
  const refused: readonly string[] = REFUSED_USAGES;
  const requested = (csr.spec.usages ?? []).filter((usage) => refused.includes(usage));
  const bits = (['keyCertSign', 'cRLSign'] as const).filter((bit) => request.keyUsage?.has(bit));
  const problems = [
    ...(requested.length === 0 ? [] : [messages.requestedUsages(requested)]),
    ...(bits.length === 0 ? [] : [messages.keyUsageBits(bits)]),
  ];
  if (problems.length === 0) return undefined;
  return {
    reason: 'ForbiddenUsage',
    message: messages.forbiddenUsages(problems, refused),
  };
};
