// SPDX-License-Identifier: Apache-2.0
/** Text of requesters in messages: quoted and escaped, so that a terminal does not interpret it, and cut. */

/** UTF-16 units of a text that a message repeats. */
const MAX_QUOTED_TEXT = 80;
/** Items of a list that a message quotes; it counts the rest. */
const MAX_QUOTED_ITEMS = 5;

/** `text` as a JSON string, cut to 80 units, with control and format characters escaped as `\u{…}`. */
export function quote(text: string): string {
  const cut = text.length > MAX_QUOTED_TEXT ? `${text.slice(0, MAX_QUOTED_TEXT)}…` : text;
  return JSON.stringify(cut.toWellFormed()).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** The first five of `texts`, each by {@link quote}, and how many more there are. */
export function quoteList(texts: readonly string[]): string {
  const named = texts.slice(0, MAX_QUOTED_ITEMS).map(quote).join(', ');
  return texts.length > MAX_QUOTED_ITEMS
    ? `${named} and ${texts.length - MAX_QUOTED_ITEMS} more`
    : named;
}
