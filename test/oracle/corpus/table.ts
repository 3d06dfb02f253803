// SPDX-License-Identifier: Apache-2.0

/** What a row says, but for OpenSSL. */
export interface Facts {
  readonly name: string;
  readonly wrong: string;
  readonly source: string;
  /** The code that we refuse with, or `accepted`. */
  readonly ours: string;
  readonly go: boolean;
}

const COLUMNS = ['what', 'what is wrong with it', 'source', 'ours', 'Go', 'OpenSSL'];

const words = (accepted: boolean): string => (accepted ? 'accepted' : 'refused');
const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;

export function writeTable(
  head: string,
  all: readonly Facts[],
  openssl: ReadonlySet<string>,
): string {
  const rows = all.map(({ name, wrong, source, ours, go }) =>
    line([
      `\`${name}\``,
      wrong === '' ? 'nothing' : wrong,
      source,
      ours,
      words(go),
      words(openssl.has(name)),
    ]),
  );
  return `${head}\n${line(COLUMNS)}${line(COLUMNS.map(() => '---'))}${rows.join('')}`;
}

/** The names of what OpenSSL accepts, by a table that was written. */
export function readOpenssl(table: string): ReadonlySet<string> {
  const rows = table.split('\n').filter((each) => /^\| `.*\| accepted \|$/.test(each));
  return new Set(rows.map((each) => /`([^`]+)`/.exec(each)?.[1] ?? ''));
}
