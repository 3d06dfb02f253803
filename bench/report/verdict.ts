// SPDX-License-Identifier: Apache-2.0
import { shown } from './figures.ts';
import type { Mark } from './marks.ts';
import type { Measured } from './read-results.ts';

/** A mark beside what was measured. */
export interface Verdict {
  readonly mark: Mark;
  /** What the mark asks for, the results' own figures taken in. */
  readonly wanted: number;
  /** The mark's words with the sizes that were run, which need not be those that it is set on. */
  readonly means: string;
  /** Undefined: not measured. */
  readonly value: number | undefined;
  readonly met: boolean | undefined;
}

export function verdictOf(mark: Mark, measured: Measured | undefined): Verdict {
  const base = mark.beyond === undefined ? 0 : measured?.figures[mark.beyond];
  const wanted = mark.value + (typeof base === 'number' ? base : 0);
  const means = mark.means.replace(/\{(\w+)\}/gu, (_, size: string) => {
    const run = measured?.figures[size];
    return typeof run === 'number' ? shown(run) : 'so many';
  });
  const value = measured?.ratios[mark.ratio];
  if (typeof value !== 'number') return { mark, wanted, means, value: undefined, met: undefined };
  return { mark, wanted, means, value, met: isMet(mark, wanted, value) };
}

function isMet({ bound, tolerance = 0 }: Mark, wanted: number, value: number): boolean {
  if (bound === 'at least') return value >= wanted;
  if (bound === 'at most') return value <= wanted;
  return Math.abs(value - wanted) <= tolerance;
}

/** `at least 0.85`, `1 ± 0.002`. */
export function boundText({ mark, wanted }: Verdict): string {
  if (mark.bound === 'within') return `${wanted} ± ${mark.tolerance ?? 0}`;
  return `${mark.bound} ${wanted}`;
}
