// SPDX-License-Identifier: Apache-2.0
/** docs/reference/verified.md, which is both the report of `make verify` and its memory. */
import { format, resolveConfig } from 'prettier';
import type { Verdict } from './report.ts';
import type { Suite } from './suites.ts';

/** Relative to the root of the repository. */
export const PAGE = 'docs/reference/verified.md';

/** One row: how a suite ended, on which commit. */
export interface Row extends Verdict {
  readonly target: string;
  readonly seconds: number;
  /** The commit that the suite ran on, abbreviated. */
  readonly commit: string;
  /** Cores of the machine. */
  readonly cores: number;
}

export type Rows = ReadonlyMap<string, Row>;

const TEXT = `# Verified

\`make verify\` writes this page. It runs every long suite, one after another, and continues after a red one.
[Suites](suites.md) says what each takes. The short tests are not here: \`make test\` runs them on each commit.

- **Result**: \`green\`; \`red\`; \`nothing ran\` if each test was skipped; a program that the machine lacks; or
  \`not run\`. \`green, 1 repeated\` means that one test failed at first and passed when it ran again, alone.
- **Tests**, **Skipped**, **Red**: sums over the runs of node:test. A suite without a number of tests is judged by its
  exit code.
- **Commit**: the suite ran on this commit, with nothing uncommitted in what it reaches. The row counts for later commits
  until a file changes that the suite reaches: by imports, by names of files and folders in its code, or by the commands
  of its target in the Makefile.
- **Cores**: of the machine. Seconds of different machines do not compare.

`;

const HEADER = ['Suite', 'Result', 'Tests', 'Skipped', 'Red', 'Seconds', 'Commit', 'Cores'];
const NOT_RUN = 'not run';

/** Returns the page as prettier formats it, with a row for each suite. */
export async function renderPage(suites: readonly Suite[], rows: Rows): Promise<string> {
  const options = { ...(await resolveConfig(PAGE)), parser: 'markdown' };
  return format(TEXT + renderTable(suites, rows), options);
}

/** Returns the table in Markdown, its columns not aligned. */
export function renderTable(suites: readonly Suite[], rows: Rows): string {
  const lines = suites.map(({ target }) => cellsOf(target, rows.get(target)));
  const dashes = HEADER.map((_, index) => (index >= 2 && index <= 5 ? '--:' : '---'));
  return [HEADER, dashes, ...lines].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function cellsOf(target: string, row: Row | undefined): readonly string[] {
  const suite = `\`${target}\``;
  if (row === undefined) return [suite, NOT_RUN, '', '', '', '', '', ''];
  const { result, tests, skipped, red, seconds, commit, cores } = row;
  const numbers = [tests, skipped, red, seconds].map((each) => String(each ?? '–'));
  return [suite, result, ...numbers, `\`${commit}\``, String(cores)];
}

/** Reads the rows of a page; suites that have not run have none. */
export function parsePage(text: string): Rows {
  const rows = new Map<string, Row>();
  for (const line of text.split('\n').filter((each) => each.startsWith('| `'))) {
    const cells = line.split('|').map((cell) => cell.trim().replaceAll('`', ''));
    const [, target = '', result = '', tests, skipped, red, seconds, commit = '', cores] = cells;
    if (result === NOT_RUN) continue;
    rows.set(target, {
      target,
      result,
      tests: numberOf(tests),
      skipped: numberOf(skipped),
      red: numberOf(red) ?? 0,
      seconds: numberOf(seconds) ?? 0,
      commit,
      cores: numberOf(cores) ?? 0,
    });
  }
  return rows;
}

function numberOf(cell: string | undefined): number | undefined {
  return cell === undefined || !/^\d+$/.test(cell) ? undefined : Number(cell);
}
