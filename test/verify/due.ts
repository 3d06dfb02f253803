// SPDX-License-Identifier: Apache-2.0
/** Which suites `make verify` runs. */
import type { Rows } from './page.ts';
import { isGreen } from './report.ts';
import type { Suite } from './suites.ts';

/** A suite that runs, and the reason. */
export interface Due {
  readonly suite: Suite;
  readonly reason: string;
}

/**
 * Returns what has changed since a commit and the suite reaches: paths, or undefined if this clone
 * does not have the commit.
 */
export type ChangesOf = (suite: Suite, commit: string) => readonly string[] | undefined;

export interface Question {
  readonly suites: readonly Suite[];
  readonly rows: Rows;
  readonly changesOf: ChangesOf;
  /** The suites that ONLY names. */
  readonly only?: readonly Suite[] | undefined;
  /** The commit of SINCE. */
  readonly since?: string | undefined;
}

/**
 * Returns the suites that run. Without ONLY and SINCE, a green row counts while nothing changes
 * that its suite reaches.
 */
export function dueSuites(question: Question): readonly Due[] {
  const { suites, only } = question;
  return (only ?? withoutRequested(suites)).flatMap((suite) => {
    const reason = reasonFor(suite, question);
    return reason === undefined ? [] : [{ suite, reason }];
  });
}

/** Returns the suites that run without being named. */
export function withoutRequested(suites: readonly Suite[]): readonly Suite[] {
  return suites.filter(({ isOnRequest }) => isOnRequest !== true);
}

function reasonFor(suite: Suite, question: Question): string | undefined {
  const { rows, changesOf, only, since } = question;
  if (since !== undefined) return changed(changesOf(suite, since), since);
  return only === undefined ? whyNotGreen(suite, rows, changesOf) : 'named by ONLY';
}

/** Returns why a suite has no green row that counts for the work tree; undefined if it has one. */
export function whyNotGreen(suite: Suite, rows: Rows, changesOf: ChangesOf): string | undefined {
  const row = rows.get(suite.target);
  if (row === undefined) return 'has no row';
  if (!isGreen(row.result)) return `its row says: ${row.result}`;
  return changed(changesOf(suite, row.commit), row.commit);
}

function changed(paths: readonly string[] | undefined, commit: string): string | undefined {
  if (paths === undefined) return `this clone lacks commit ${commit}`;
  const [first, ...more] = paths;
  if (first === undefined) return undefined;
  return more.length === 0 ? `${first} changed` : `${first} and ${more.length} more changed`;
}
