// SPDX-License-Identifier: Apache-2.0
import { printable } from '../quote.ts';
import { CHECK_GROUPS } from './catalogue/description.ts';
import { descriptionOf, pageOf } from './catalogue.ts';
import { MARKS, type Finding, type Severity } from './finding.ts';

/** The result for programs: what `-o json` and `-o yaml` print. */
export interface CheckReport {
  /** The worst of the findings; what could not be seen is no fault. */
  readonly result: 'ok' | 'warning' | 'error';
  readonly checks: readonly (Finding & { readonly group: string; readonly page: string })[];
}

/** @returns the findings with their groups and pages, and the worst of them */
export function reportOf(findings: readonly Finding[]): CheckReport {
  const severities = new Set(findings.map(({ severity }) => severity));
  const result = (['error', 'warning'] as const).find((each) => severities.has(each)) ?? 'ok';
  return {
    result,
    checks: findings.map((each) => ({
      ...each,
      group: descriptionOf(each.id).group,
      page: pageOf(each.id),
    })),
  };
}

/**
 * The result for people: a line a finding under the title of its group, and what to do below those that are not well.
 * Each finding's line begins with two spaces and its mark: √, ‼, ×, or ? for what could not be seen.
 */
export function reportText({ checks, result }: CheckReport): string {
  const groups = CHECK_GROUPS.flatMap((group) => {
    const members = checks.filter((each) => each.group === group);
    if (members.length === 0) return [];
    return [group, ...members.flatMap((each) => linesOf(each)), ''];
  });
  return [...groups, summaryOf(checks, result), ''].join('\n');
}

function linesOf({ id, severity, subject, why, todo }: Finding): readonly string[] {
  const about = subject === undefined ? '' : `${subject}: `;
  const line = `  ${MARKS[severity]} ${id}: ${printable(about + why)}`;
  if (todo === undefined) return [line];
  return [line, `      → ${printable(todo)}`, `      → countersign check --explain ${id}`];
}

function summaryOf(checks: CheckReport['checks'], result: CheckReport['result']): string {
  const count = (severity: Severity): number =>
    checks.filter((each) => each.severity === severity).length;
  const counts = `${count('ok')} ok, ${count('warning')} warnings, ${count('error')} errors, ${count('unseen')} not seen`;
  return result === 'error' ? `Not well: ${counts}.` : `Well: ${counts}.`;
}
