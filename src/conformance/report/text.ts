// SPDX-License-Identifier: Apache-2.0
import { printable } from '#base/quote.ts';
import type { CaseOutcome, CaseResult } from '../case.ts';
import { countOf, isConformant, type Report } from './report.ts';

const WORDS: Readonly<Record<CaseOutcome, string>> = { pass: 'pass', fail: 'FAIL', skip: 'skip' };

/**
 * Returns the report for people: one line per case, with the evidence below it unless it passes.
 */
export function textReport(report: Report): string {
  const { signer, kind, results, seconds, left, removed } = report;
  const wrong = results.filter(({ outcome, level }) => outcome === 'fail' && level === 'must');
  return [
    `${signer} (${kind})`,
    '',
    ...results.flatMap(rowsOf),
    '',
    `${countOf(report, 'pass')} passed, ${countOf(report, 'fail')} failed (${wrong.length} of them must hold), ` +
      `${countOf(report, 'skip')} skipped, in ${seconds} s; ${removed} objects removed`,
    ...leftLines(left),
    isConformant(report) ? 'conformant in what was judged' : 'not conformant',
    '',
  ].join('\n');
}

function rowsOf({ id, outcome, level, asserts, evidence, source }: CaseResult): readonly string[] {
  const kind = level === 'should' ? ' (should)' : '';
  const row = `${WORDS[outcome]}  ${id}  ${asserts}${kind}`;
  if (outcome === 'pass') return [row];
  const detail = `              ${printable(evidence)}`;
  return outcome === 'skip' ? [row, detail] : [row, detail, `              ${source}`];
}

/** The number of named objects. */
const NAMED = 5;

/**
 * Names the objects that a user without permission to delete leaves behind. kube-controller-manager
 * removes requests in time.
 */
export function leftLines(left: readonly string[]): readonly string[] {
  const named = left.slice(0, NAMED).map((each) => `still there: ${printable(each)}`);
  const more = left.length - named.length;
  return more > 0 ? [...named, `still there: ${more} more`] : named;
}
