// SPDX-License-Identifier: Apache-2.0
/** What a fault is, and what `countersign check` and `countersign explain` print of it. */
import assert from 'node:assert/strict';
import type { Shell } from '../cluster/shell.ts';

/** How Countersign came into the cluster. */
export type Way = 'manifests' | 'Helm' | 'the operator';

export interface Fault {
  /** What is wrong. */
  readonly name: string;
  /** The commands that break it. */
  readonly broken: string;
  /** What a person types to learn what is wrong. Default: {@link CHECK}. */
  readonly asked?: string;
  /** The line that names it. Absent: it heals before a person could read one. */
  readonly named?: RegExp;
  /** The ways of installing by which there is something to break; default: each. */
  readonly ways?: readonly Way[];
  /** The ways of installing by which it heals without a person; default: none does. */
  readonly healsBy?: readonly Way[];
  /** How a person corrects what the printed `kubectl edit` opens: a script of sed. */
  readonly edited?: string;
  /** What a person adds to `values.yaml` before a printed command that reads it: a filter of jq. */
  readonly values?: string;
  /** What succeeds once it is healed, besides that `check` prints no line. */
  readonly right?: string;
  /** The commands that leave the cluster as it was. */
  readonly cleared?: string;
}

/** By each way of installing. */
export const EVERY_WAY: readonly Way[] = ['manifests', 'Helm', 'the operator'];
/** The propagation time of the stand's components: a new CA signs while the test waits. */
export const PROPAGATION = '2s';
export const CHECK = `countersign check --propagation ${PROPAGATION}`;

/** A line that is not well, and the advice below it. */
export interface Printed {
  readonly line: string;
  readonly advice: string;
}

/** What `check` prints of what is not well, or `explain` of an object and its parts. */
export async function printedBy(shell: Shell, asked = CHECK): Promise<readonly Printed[]> {
  const { code, stdout, stderr } = await shell.run(asked);
  // The exit codes of explain tell a program what it prints.
  assert.notEqual(stdout, '', `${asked}: exit ${String(code)}\n${stderr}`);
  return asked === CHECK ? findings(stdout) : [explanation(stdout)];
}

/** The people's CA is the client CA of the test cluster, which lives for a week. */
const KNOWN = /^ca-lifetime: clustersigner\/people: /;

function findings(stdout: string): readonly Printed[] {
  const found = stdout.matchAll(/^ {2}[‼×] (.*)\n(?: {6}\d.*\n)?(?: {6}→ (.*)\n)?/gm);
  return [...found]
    .map(([, line = '', advice = '']) => ({ line, advice }))
    .filter(({ line }) => !KNOWN.test(line));
}

/** The first command of `what you can do`. */
function explanation(stdout: string): Printed {
  const [head = '', summary = ''] = stdout.split('\n');
  const [, list = ''] = /^ +what you can do:\n((?: {4}.*\n?)*)/m.exec(stdout) ?? [];
  const advice = list.split('\n').find((each) => commandIn(each.trim()) !== undefined) ?? '';
  return { line: `${head} ${summary.trim()}`, advice: advice.trim() };
}

/** The command of an advice: all of it, or what follows a colon to its end. */
export function commandIn(advice: string): string | undefined {
  return /(?:^|: )((?:kubectl|countersign|helm) .*)$/.exec(advice)?.[1];
}
