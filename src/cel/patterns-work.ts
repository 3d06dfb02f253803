// SPDX-License-Identifier: Apache-2.0
import type { Regex } from './regex.ts';

/** Patterns that stay compiled for as long as this is held. */
export type Patterns = Set<Regex>;

/**
 * Instructions that the patterns of a part of a spec may take to be made, some 100 ns each: whoever may
 * write one must not hold up for longer those whom the same process serves. Thirty of those that are
 * usual for SPIFFE IDs.
 */
export const MAX_PATTERNS_WORK = 2_000_000;

export function workOf(patterns: ReadonlySet<Regex>): number {
  let work = 0;
  for (const each of patterns) work += each.work;
  return work;
}
