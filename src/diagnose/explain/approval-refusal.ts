// SPDX-License-Identifier: Apache-2.0
import { wouldFail } from '#ca/policy/denial-messages.ts';
import type { Explanation } from './explanation.ts';

/**
 * Returns why `countersign approve` and the console refuse to approve a request: its signer would
 * fail it for good, or no component would answer it. Undefined if an approval can help.
 */
export function approvalRefusal({
  wouldFail: faults = [],
  noApprovalHelps,
}: Pick<Explanation, 'wouldFail' | 'noApprovalHelps'>): string | undefined {
  if (faults.length === 0) return noApprovalHelps;
  return `${wouldFail(faults.join('; '))}; its requester must create a corrected request`;
}
