// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '../../../api/signer/cluster-signer.ts';
import { parseDuration } from '../../../api/object/duration.ts';
import { parseTime } from '../../../api/object/time.ts';

/** As of a managed CA, where `renewBefore` is left out. */
const LAST_SHARE = 5;

/**
 * When the user should have replaced his own CA: in the last fifth of its life, or when a successor
 * that is published then would come too late for the longest leaf.
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
