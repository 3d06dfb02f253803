// SPDX-License-Identifier: Apache-2.0
/**
 * Estimate of the work to read the character classes of a pattern, from its text, before RE2 reads
 * it. With `(?i)`, RE2 looks each character of a range up in the tables of Unicode.
 * `(?i)[b-\x{1E942}]` takes 3.4 ms, and a pattern has room for forty of them.
 */

/** The first and the last character that have another case (re2js, class Unicode). */
const MIN_FOLD = 0x41;
const MAX_FOLD = 0x1e943;

/**
 * Work for one character whose cases are looked up, and for one table, in instructions
 * (automaton.ts).
 */
const PER_FOLDED = 0.3;
const PER_TABLE = 1_500;

const CHARACTER = String.raw`\\x\{[0-9A-Fa-f]{1,8}\}|\\?[^]`;
const RANGES = new RegExp(`(${CHARACTER})-(${CHARACTER})`, 'gu');
/** `\pL`, `[[:^alpha:]]`, and others that represent many ranges. */
const TABLES = /\\[pP]|\[:/g;
/** Flags that switch `i` on, or off. */
const FOLDS = /\(\?[a-zA-Z-]*i/;

/**
 * Returns the work to read the classes of a pattern, in instructions. Unknown syntax counts as the
 * widest range.
 *
 * @param pattern - any text
 */
export function classWork(pattern: string): number {
  const tables = PER_TABLE * [...pattern.matchAll(TABLES)].length;
  if (!FOLDS.test(pattern)) return tables;
  let folded = 0;
  for (const [, lowest = '', highest = ''] of pattern.matchAll(RANGES)) {
    const from = Math.max(MIN_FOLD, runeOf(lowest) ?? MIN_FOLD);
    const to = Math.min(MAX_FOLD, runeOf(highest) ?? MAX_FOLD);
    folded += Math.max(0, to - from);
  }
  return tables + PER_FOLDED * folded;
}

/** Returns the character of a token, or undefined for an escape that may be any character. */
function runeOf(token: string): number | undefined {
  if (!token.startsWith('\\')) return token.codePointAt(0);
  return token.startsWith('\\x{') ? Number.parseInt(token.slice(3, -1), 16) : undefined;
}
