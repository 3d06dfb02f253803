// SPDX-License-Identifier: Apache-2.0
import type { Kind, CaseOutcome, CaseResult } from '../case.ts';

/** The result of one run. */
export interface Report {
  readonly signer: string;
  readonly kind: Kind;
  /** RFC 3339. */
  readonly begun: string;
  readonly seconds: number;
  readonly results: readonly CaseResult[];
  readonly removed: number;
  /** Remaining objects of the runner, each with the reason. */
  readonly left: readonly string[];
}

/** Returns the number of cases with this outcome. */
export function countOf({ results }: Pick<Report, 'results'>, outcome: CaseOutcome): number {
  return results.filter((each) => each.outcome === outcome).length;
}

/** Reports whether every case of level `must` passes or is skipped. */
export function isConformant({ results }: Pick<Report, 'results'>): boolean {
  return !results.some(({ level, outcome }) => level === 'must' && outcome === 'fail');
}

/** Returns one JSON object. */
export function jsonReport(report: Report): string {
  const summary = {
    pass: countOf(report, 'pass'),
    fail: countOf(report, 'fail'),
    skip: countOf(report, 'skip'),
    conformant: isConformant(report),
  };
  return `${JSON.stringify({ ...report, summary }, undefined, 2)}\n`;
}
