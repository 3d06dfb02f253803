// SPDX-License-Identifier: Apache-2.0
/**
 * Untrusted text in messages. Requesters, approvers, and external CAs write names and messages
 * that people read in terminals. Pass such text through one of these functions before you put it
 * into a message.
 */

/**
 * Invisible characters, which some parsers drop. These are:
 *
 * - all that Unicode calls control, format, private use, surrogate, or unassigned
 * - separators of lines
 * - default-ignorable characters (variation selectors, fillers, joiners)
 * - letters and symbols that are drawn as nothing: blank Braille, the null notehead, Egyptian
 *   blanks, the Khitan filler
 * - the two that LDAP maps to nothing (RFC 4518 §2.2)
 */
export const INVISIBLE_CHARACTERS =
  /[\u{16fe4}\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u{13441}\u{13442}\u1806\ufffc]/gu;

/** {@link INVISIBLE_CHARACTERS}, and blanks that look like a space. */
const HIDDEN =
  /(?! )[\u{16fe4}\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u{13441}\u{13442}\u1806\ufffc]/gu;

/** Limit in UTF-16 units on a quoted text. */
const MAX_QUOTED_TEXT = 80;
/** Limit on items of a list that a message quotes. It counts the rest. */
const MAX_QUOTED_ITEMS = 5;

/**
 * Returns `text` as a JSON string for a message: cut, with each control or invisible character as
 * `\u{…}`.
 *
 * @param length - limit in UTF-16 units
 */
export function quote(text: string, length = MAX_QUOTED_TEXT): string {
  const cut = text.length > length ? `${text.slice(0, length)}…` : text;
  return printable(JSON.stringify(cut.toWellFormed()));
}

/** Returns the first five of `texts`, each by {@link quote}, and the number of the rest. */
export function quoteList(texts: readonly string[]): string {
  const named = texts.slice(0, MAX_QUOTED_ITEMS).map((text) => quote(text));
  const more = texts.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}

/**
 * Returns `text` on one line, complete and unquoted. Each control or invisible character, including
 * line ends, becomes `\u{…}`. Use it for conditions, Events, logs, and terminals.
 */
export function printable(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u{${hexOf(character.codePointAt(0) ?? 0)}}`);
}

/** Words that every shell accepts unchanged, and no command reads as an option. */
const PLAIN_WORD = /^[\w.:@/][\w.:@/=+-]*$/;

/** Reports whether every shell accepts `text` unchanged, and no command reads it as an option. */
export function isPlainWord(text: string): boolean {
  return PLAIN_WORD.test(text);
}

/**
 * fish reads a backslash in single quotes differently, so both characters stay outside of the
 * quotes.
 */
const OUTSIDE_QUOTES = /['\\]/g;

/**
 * Returns `text` as one word of a command that people copy into sh, bash, zsh, or fish. Names of
 * CertificateSigningRequests may have any character except `/` and `%`. One could end in a command
 * of its own, or start as an option.
 *
 * @param kind - prefix of a name that is not a plain word, so that it starts no option: `csr/`
 */
export function shellWord(text: string, kind = ''): string {
  if (isPlainWord(text)) return text;
  return `'${printable(kind + text).replace(OUTSIDE_QUOTES, (each) => `'\\${each}'`)}'`;
}

/**
 * Applies {@link printable} to each line of `text`. Use it only for text whose line ends are our
 * own.
 */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/**
 * Returns JSON, or YAML with quoted strings, with the same characters as `\uXXXX`. Programs read
 * the original text, and a terminal shows it.
 *
 * @param document - text that has such characters only inside strings in double quotes
 */
export function printableJson(document: string): string {
  return document.replace(HIDDEN, (character) =>
    character === '\n'
      ? character
      : Array.from({ length: character.length }, (_, unit) => escapedUnit(character, unit)).join(
          '',
        ),
  );
}

function escapedUnit(character: string, unit: number): string {
  return `\\u${hexOf(character.charCodeAt(unit)).padStart(4, '0')}`;
}

function hexOf(code: number): string {
  return code.toString(16);
}
