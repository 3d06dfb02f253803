// SPDX-License-Identifier: Apache-2.0
/** Shows texts of a CA, which knows our tokens. */
import { quote } from '#base/quote.ts';

/** Characters of a text that are searched for tokens, and those that are shown. */
const MAX_SEARCHED_TEXT = 4_000;
const MAX_SHOWN_TEXT = 300;

/** Characters of a token that make a part of it useful to its reader. */
const MIN_PART = 12;

/** Stands for a token, or for a part of one. */
const HIDDEN_TOKEN = '[token]';

/** Returns the beginning of a text, quoted and without tokens. */
export function foreignText(text: string, tokens: readonly string[]): string {
  return quote(withoutTokens(text.slice(0, MAX_SEARCHED_TEXT), tokens), MAX_SHOWN_TEXT);
}

/** Replaces each token, and each part of one that has 12 characters or more. */
export function withoutTokens(text: string, tokens: readonly string[]): string {
  let shown = '';
  for (let at = 0; at < text.length;) {
    const length = lengthOfToken(text, at, tokens);
    shown += length === 0 ? (text[at] ?? '') : HIDDEN_TOKEN;
    at += Math.max(length, 1);
  }
  return shown;
}

/** Returns the number of characters from `at` that are part of a token. 0 if they are too few. */
function lengthOfToken(text: string, at: number, tokens: readonly string[]): number {
  const isPart = (end: number): boolean =>
    end <= text.length && tokens.some((token) => token.includes(text.slice(at, end)));
  let end = at + MIN_PART;
  if (!isPart(end)) return 0;
  while (isPart(end + 1)) end += 1;
  return end - at;
}
