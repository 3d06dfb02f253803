// SPDX-License-Identifier: Apache-2.0

/**
 * The value that a share of all others does not exceed, by the nearest rank: one that was measured.
 *
 * @param share - above 0, at most 1
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}
