// SPDX-License-Identifier: Apache-2.0
/** Foreign texts in messages: quoted, so that nothing of them acts on a terminal, and cut. */

/** How much of a foreign text is repeated. */
const MAX_TEXT = 80;
/** How many of a list are named; the rest is counted. */
const MAX_ITEMS = 5;

export function quote(text: string): string {
  const cut = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  return JSON.stringify(cut.toWellFormed()).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

export function quoteList(texts: readonly string[]): string {
  const named = texts.slice(0, MAX_ITEMS).map(quote).join(', ');
  return texts.length > MAX_ITEMS ? `${named} and ${texts.length - MAX_ITEMS} more` : named;
}
