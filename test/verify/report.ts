// SPDX-License-Identifier: Apache-2.0
/** What the output of a suite says about its tests. */

/** The sums over the runs of node:test in an output. */
export interface Counts {
  readonly tests: number;
  readonly skipped: number;
  /** Tests that failed or were cancelled. */
  readonly red: number;
  /** Integration tests that failed at first and passed when they ran again. */
  readonly flaky: number;
}

/** A number of the summary that the reporters spec (`ℹ tests 3`) and tap (`# tests 3`) end with. */
const SUMMARY = /^(?:ℹ|#) (?<name>tests|fail|cancelled|skipped) (?<count>\d+)$/gm;

export function countsIn(output: string): Counts {
  const sums: Record<string, number> = { tests: 0, fail: 0, cancelled: 0, skipped: 0 };
  for (const { groups } of output.matchAll(SUMMARY)) {
    const { name = '', count = '' } = groups ?? {};
    sums[name] = (sums[name] ?? 0) + Number(count);
  }
  const { tests = 0, fail = 0, cancelled = 0, skipped = 0 } = sums;
  const flaky = [...output.matchAll(/^FLAKY /gm)].length;
  return { tests, skipped, red: fail + cancelled, flaky };
}

/** How a suite ended. */
export interface Outcome {
  /** Of make; null if a signal ended it. */
  readonly exitCode: number | null;
  readonly output: string;
  /** Whether the suite prints how many tests it has. */
  readonly hasTests: boolean;
}

/** The cells of a row that follow from an outcome. */
export interface Verdict {
  /** `green`, `green, 1 repeated`, `red` or `nothing ran`. */
  readonly result: string;
  /** Undefined where the suite counts no tests. */
  readonly tests: number | undefined;
  readonly skipped: number | undefined;
  readonly red: number;
}

/**
 * Judges a suite by its exit code. Without one test that ran it is not green, whatever the exit
 * code: node:test ends with 0 if all are skipped.
 */
export function verdictOf({ exitCode, output, hasTests }: Outcome): Verdict {
  const { tests, skipped, red, flaky } = countsIn(output);
  const counted = hasTests ? { tests, skipped } : { tests: undefined, skipped: undefined };
  if (exitCode !== 0) return { ...counted, result: 'red', red: Math.max(1, red) };
  if (hasTests && tests <= skipped) return { ...counted, result: 'nothing ran', red: 0 };
  const result = flaky === 0 ? GREEN : `${GREEN}, ${flaky} repeated`;
  return { ...counted, result, red: 0 };
}

const GREEN = 'green';

export function isGreen(result: string): boolean {
  return result === GREEN || result.startsWith(`${GREEN}, `);
}
