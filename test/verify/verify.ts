// SPDX-License-Identifier: Apache-2.0
/** Runs suites one after another, continues after a red one, and keeps each row at once. */
import { dueSuites, whyNotGreen, withoutRequested, type Due, type Question } from './due.ts';
import { renderTable, type Row, type Rows } from './page.ts';
import { verdictOf, type Outcome } from './report.ts';
import type { Suite } from './suites.ts';

/** The machine and the repository. */
export interface Ports {
  /** Runs a suite to its end; undefined if the person has stopped `make verify`. */
  readonly run: (suite: Suite) => Promise<Outcome | undefined>;
  /** The commit of HEAD, abbreviated. */
  readonly head: () => string;
  readonly isInstalled: (program: string) => boolean;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly cores: number;
  /** Writes the page again. */
  readonly keep: (rows: Rows) => Promise<void>;
  readonly print: (line: string) => void;
}

/** Runs what is due. Returns true if every suite that was considered is green on the page. */
export async function verify(question: Question, ports: Ports): Promise<boolean> {
  const rows = new Map(question.rows);
  const due = dueSuites(question);
  ports.print(`${due.length} of ${question.suites.length} suites are due`);
  const ran: Row[] = [];
  for (const each of due) {
    const row = await runOne(each, question, ports);
    if (row === undefined) break;
    ran.push(row);
    const why = uncommitted(each.suite, row.commit, question);
    if (why === undefined) {
      rows.set(row.target, row);
      await ports.keep(rows);
    } else ports.print(`   not recorded as of ${row.commit}: ${why}`);
  }
  const shown = new Map([...rows, ...ran.map((row) => [row.target, row] as const)]);
  const chosen = question.since === undefined ? question.only : due.map(({ suite }) => suite);
  ports.print(`\n${renderTable(chosen ?? question.suites, shown)}`);
  const considered = chosen ?? withoutRequested(question.suites);
  return isAllGreen(considered, { ...question, rows }, ports);
}

/** Runs one suite; undefined if the person has stopped it. */
async function runOne(
  { suite, reason }: Due,
  question: Question,
  ports: Ports,
): Promise<Row | undefined> {
  const { target } = suite;
  const commit = ports.head();
  ports.print(`== ${target}: ${reason}`);
  const why = uncommitted(suite, commit, question);
  if (why !== undefined) ports.print(`   will not be recorded as of ${commit}: ${why}`);
  const began = ports.now();
  const lacking = (suite.takes ?? []).filter((program) => !ports.isInstalled(program));
  const outcome = lacking.length > 0 ? undefined : await ports.run(suite);
  if (lacking.length === 0 && outcome === undefined) return undefined;
  const verdict =
    outcome === undefined
      ? { result: `no ${lacking.join(', ')}`, tests: undefined, skipped: undefined, red: 0 }
      : verdictOf(outcome);
  const seconds = Math.round((ports.now() - began) / 1000);
  ports.print(`   ${verdict.result}, ${seconds} s`);
  return { target, ...verdict, seconds, commit, cores: ports.cores };
}

/** Why a result is not one of the commit: something that the suite reaches differs from it. */
function uncommitted(suite: Suite, commit: string, { changesOf }: Question): string | undefined {
  const [first, ...more] = changesOf(suite, commit) ?? [`commit ${commit}`];
  if (first === undefined) return undefined;
  return `${first}${more.length === 0 ? '' : ` and ${more.length} more`} not as committed`;
}

/** A suite that ran without a row is not green, and neither is one that was stopped. */
function isAllGreen(
  considered: readonly Suite[],
  question: Question,
  { head, print }: Ports,
): boolean {
  const { rows, changesOf } = question;
  const left = considered.filter((suite) => whyNotGreen(suite, rows, changesOf) !== undefined);
  const names = left.map(({ target }) => target).join(', ');
  print(left.length === 0 ? `All green as of ${head()}` : `Not green as of ${head()}: ${names}`);
  return left.length === 0;
}
