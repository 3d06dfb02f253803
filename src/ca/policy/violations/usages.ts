// SPDX-License-Identifier: Apache-2.0
import { REFUSED_USAGES } from '#base/vocabulary.ts';
import type { ViolationRule } from './violation.ts';
import * as messages from '../denial-messages.ts';

/**
 * Requires usages of the profile, because a leaf gets the usages of `spec.usages`.
 * certificateSigning reports those that no profile can have.
 */
export const usages: ViolationRule = ({ csr, profile }) => {
  const requested = csr.spec.usages ?? [];
  const known: readonly string[] = [...profile.usages, ...REFUSED_USAGES];
  const outside = requested.filter((usage) => !known.includes(usage));
  if (outside.length === 0 && requested.length > 0) return undefined;
  const problem = requested.length === 0 ? messages.NO_USAGES : messages.requestedUsages(outside);
  return {
    reason: 'UsageNotAllowed',
    message: messages.usagesNotAllowed(problem, profile.usages),
  };
};

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
