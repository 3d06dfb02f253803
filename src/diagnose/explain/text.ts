// SPDX-License-Identifier: Apache-2.0
import { printable } from '#base/quote.ts';
import type { Explanation, TimelineEntry, RuleVerdict } from './explanation.ts';

const MARKS: Readonly<Record<RuleVerdict['outcome'], string>> = {
  approve: '√',
  deny: '×',
  noOpinion: '-',
};

/** Returns an explanation for people: state, history, next step, remediation. */
export function explanationText(explanation: Explanation): string {
  return `${linesOf(explanation, '').join('\n')}\n`;
}

function linesOf(explanation: Explanation, indent: string): readonly string[] {
  const {
    object,
    namespace,
    state,
    summary,
    timeline,
    rules = [],
    notices = [],
    next,
    remediation,
  } = explanation;
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const parts = (explanation.parts ?? []).flatMap((part) => ['', ...linesOf(part, '  ')]);
  // The parts print their own remediation.
  const ofParts = new Set((explanation.parts ?? []).flatMap((part) => part.remediation));
  const own = remediation.filter((each) => !ofParts.has(each));
  return [
    printable(`${object}${where}: ${state}`),
    `  ${printable(summary)}`,
    ...section('what happened', timeline.map(momentText)),
    ...rulesText(rules),
    ...noticesText(notices.filter((notice) => notice !== summary)),
    ...section('next', next === undefined ? [] : [momentText(next)]),
    ...section('what you can do', own.map(printable)),
    ...parts,
  ].map((line) => (line === '' ? line : indent + line));
}

/** Returns the verdicts of the rules below a title, one line each. Empty without rules. */
export function rulesText(rules: readonly RuleVerdict[]): readonly string[] {
  return section('what the rules say', rules.map(ruleText));
}

/** Returns a title and the notices for an approver, one line each. Empty without notices. */
export function noticesText(notices: readonly string[]): readonly string[] {
  return section('before you approve it', notices.map(printable));
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `  ${title}:`, ...lines.map((line) => `    ${line}`)];
}

/** Width of `2026-01-01T00:00:00Z`. */
const TIME_WIDTH = 20;

function momentText({ at = '', what }: TimelineEntry): string {
  return `${printable(at).padEnd(TIME_WIDTH)}  ${printable(what)}`;
}

function ruleText({ rule, outcome, message, nearest }: RuleVerdict): string {
  return printable(`${MARKS[outcome]} ${rule}${nearest ? ' (nearest)' : ''}: ${message}`);
}
