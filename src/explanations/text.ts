// SPDX-License-Identifier: Apache-2.0
import { printable } from '../quote.ts';
import type { Explanation, TimelineEntry, RuleVerdict } from './explanation.ts';

const MARKS: Readonly<Record<RuleVerdict['outcome'], string>> = {
  approve: '√',
  deny: '×',
  noOpinion: '-',
};

/** An explanation for people: where it stands, how it came there, what is next, what you can do. */
export function explanationText(explanation: Explanation): string {
  return `${linesOf(explanation, '').join('\n')}\n`;
}

function linesOf(explanation: Explanation, indent: string): readonly string[] {
  const { object, namespace, state, summary, timeline, rules = [], next, todo } = explanation;
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const parts = (explanation.parts ?? []).flatMap((part) => ['', ...linesOf(part, '  ')]);
  // What the parts say to do stands with them.
  const own = parts.length > 0 ? [] : todo;
  return [
    printable(`${object}${where}: ${state}`),
    `  ${printable(summary)}`,
    ...section('what happened', timeline.map(momentText)),
    ...rulesText(rules),
    ...section('next', next === undefined ? [] : [momentText(next)]),
    ...section('what you can do', own.map(printable)),
    ...parts,
  ].map((line) => (line === '' ? line : indent + line));
}

/** What each rule says of a request, a line each, below a title; nothing where there is none. */
export function rulesText(rules: readonly RuleVerdict[]): readonly string[] {
  return section('what the rules say', rules.map(ruleText));
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `  ${title}:`, ...lines.map((line) => `    ${line}`)];
}

/** As wide as `2026-01-01T00:00:00Z`. */
const TIME_WIDTH = 20;

function momentText({ at = '', what }: TimelineEntry): string {
  return `${printable(at).padEnd(TIME_WIDTH)}  ${printable(what)}`;
}

function ruleText({ rule, outcome, message, nearest }: RuleVerdict): string {
  return printable(`${MARKS[outcome]} ${rule}${nearest ? ' (nearest)' : ''}: ${message}`);
}
