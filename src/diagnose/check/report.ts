// SPDX-License-Identifier: Apache-2.0
import { quantity } from '#base/quantity.ts';
import { printable } from '#base/quote.ts';
import { CHECK_GROUPS } from './catalogue/description.ts';
import { descriptionOf, pageOf } from './catalogue.ts';
import { MARKS, causeOf, type Finding, type Severity } from './finding.ts';

/** The result for programs: what `-o json` and `-o yaml` print. */
export interface CheckReport {
  /** The worst severity of the findings. `unseen` does not count. */
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
 * Returns the result for people: one line for each finding below the title of its group, and the
 * next step below each finding that failed. A finding's line begins with two spaces and its mark:
 * √, ‼, ×, or ? for `unseen`.
 */
export function reportText({ checks }: CheckReport): string {
  const roots = rootsOf(checks);
  const groups = CHECK_GROUPS.flatMap((group) => {
    const members = roots.filter(({ finding }) => finding.group === group);
    if (members.length === 0) return [];
    return [group, ...shownOf(members).flatMap((each) => linesOf(each)), ''];
  });
  return [
    ...groups,
    `${verdictOf(countsOf(checks))}: ${countsText(countsOf(roots.map(({ finding }) => finding)))}.`,
    '',
  ].join('\n');
}

/** A finding, and the number of findings that it causes. */
interface Root {
  readonly finding: CheckReport['checks'][number];
  readonly effects: number;
}

/** Returns the findings without those that another finding causes: one line for one cause. */
function rootsOf(checks: CheckReport['checks']): readonly Root[] {
  const nameOf = ({ id, subject = '' }: Finding): string => causeOf(id, subject);
  const bad = checks.filter(({ severity }) => severity !== 'ok');
  const names = new Set(bad.filter((each) => each.causedBy === undefined).map(nameOf));
  const effects = Map.groupBy(bad, ({ causedBy }) => causedBy);
  return checks
    .filter(({ causedBy }) => causedBy === undefined || !names.has(causedBy))
    .map((finding) => ({ finding, effects: effects.get(nameOf(finding))?.length ?? 0 }));
}

/**
 * Maximum number of findings of one check with one remedy that are printed. The others are counted.
 */
const MAX_ALIKE = 5;

function shownOf(roots: readonly Root[]): readonly (Root | string)[] {
  const groups = Map.groupBy(roots, ({ finding: { id, severity, remediation = '' } }) =>
    JSON.stringify([id, severity, remediation]),
  );
  return [...groups.values()].flatMap((alike) => {
    const rest = alike.length - MAX_ALIKE;
    if (rest < 2 || alike[0]?.finding.severity === 'ok') return alike;
    const note = `      and ${rest} more like these, which -o json lists`;
    return [...alike.slice(0, MAX_ALIKE), note];
  });
}

function linesOf(shown: Root | string): readonly string[] {
  if (typeof shown === 'string') return [shown];
  const { finding, effects } = shown;
  const { id, severity, subject, why, remediation } = finding;
  const about = subject === undefined ? '' : `${subject}: `;
  const line = `  ${MARKS[severity]} ${id}: ${printable(about + why)}`;
  if (remediation === undefined) return [line];
  const page = `countersign check --explain ${id}`;
  const follow = effects === 1 ? 'finding follows' : 'findings follow';
  return [
    line,
    ...(effects === 0 ? [] : [`      ${effects} more ${follow} from this`]),
    `      → ${printable(remediation)}`,
    ...(remediation.startsWith(page) ? [] : [`      → ${page}`]),
  ];
}

type Counts = Readonly<Record<Severity, number>>;

function countsOf(findings: readonly Finding[]): Counts {
  const count = (wanted: Severity): number =>
    findings.filter(({ severity }) => severity === wanted).length;
  return {
    ok: count('ok'),
    warning: count('warning'),
    error: count('error'),
    unseen: count('unseen'),
  };
}

function countsText({ ok, warning, error, unseen }: Counts): string {
  return `${ok} ok, ${quantity(warning, 'warning')}, ${quantity(error, 'error')}, ${unseen} not seen`;
}

/** Returns the result in words, from the number of findings of each severity. */
export function verdictOf({ error, warning, unseen }: Counts): string {
  if (error > 0) return 'Failed';
  if (unseen > 0) return 'No errors found, but you may not read everything';
  return warning > 0 ? 'No errors' : 'All checks passed';
}

/**
 * Returns the failed findings that a component may still change. The others need a person.
 *
 * @param severity - the least severity that fails
 */
export function openFindings(
  { checks }: CheckReport,
  severity: 'warning' | 'error',
): readonly Finding[] {
  const failing: readonly Severity[] = severity === 'error' ? ['error'] : ['warning', 'error'];
  return checks.filter((each) => failing.includes(each.severity) && each.isFinal !== true);
}

/** Reports whether the findings fail a script: errors always do, warnings only on request. */
export function failsFrom(
  { result }: Pick<CheckReport, 'result'>,
  severity: 'warning' | 'error',
): boolean {
  return result === 'error' || (result === 'warning' && severity === 'warning');
}
