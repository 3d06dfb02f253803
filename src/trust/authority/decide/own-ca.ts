// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { parseDuration } from '#api/object/duration.ts';
import { parseTime } from '#api/object/time.ts';

/** The same share as for a managed CA without `renewBefore`. */
const LAST_SHARE = 5;

/**
 * Returns when the user should have replaced their own CA: in the last fifth of its lifetime, or
 * when a successor published then would be too late for the longest leaf.
 */
export function ownCaReplacementTime(
  { notBefore, notAfter, longestLeaf }: AuthorityStatus,
  propagationSeconds: number,
): { readonly at: number; readonly reason: 'RenewBefore' | 'LongestLeaf' } {
  const end = parseTime(notAfter);
  const byAge = end - (end - parseTime(notBefore)) / LAST_SHARE;
  const byLeaf = end - (parseDuration(longestLeaf) + propagationSeconds) * 1000;
  return byLeaf < byAge
    ? { at: byLeaf, reason: 'LongestLeaf' }
    : { at: byAge, reason: 'RenewBefore' };
}
