// SPDX-License-Identifier: Apache-2.0
import { MARKS, type Bench } from '../report/marks.ts';
import type { Measured } from '../report/read-results.ts';

/**
 * Ratios that a mark is set on and that a bench did not write. What it could not measure is there
 * as null.
 */
export function missingRatios(
  bench: Bench,
  { ratios }: Pick<Measured, 'ratios'>,
): readonly string[] {
  return MARKS.filter((mark) => mark.bench === bench && !(mark.ratio in ratios)).map(
    ({ ratio }) => ratio,
  );
}
