// SPDX-License-Identifier: Apache-2.0
/**
 * Untrusted text in messages (L0): requesters, approvers and foreign CAs write names and messages that people
 * read in terminals. Pass such text through one of these functions before you put it into a message.
 */

/**
 * Invisible characters, which some parsers drop: all that Unicode calls control, format, private use,
 * surrogate or unassigned; separators of lines; what it calls default-ignorable (variation selectors, fillers,
 * joiners); and letters and symbols that are drawn as nothing: blank Braille, the null notehead, Egyptian blanks,
 * the Khitan filler. Besides, the two that LDAP maps to nothing (RFC 4518 §2.2).
 */
export const INVISIBLE_CHARACTERS =
  /[\u{16fe4}\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u{13441}\u{13442}\u1806\ufffc]/gu;

/** {@link INVISIBLE_CHARACTERS}, and blanks that a reader takes for a space. */
const HIDDEN =
  /(?! )[\u{16fe4}\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u{13441}\u{13442}\u1806\ufffc]/gu;

/** UTF-16 units of a text that a message repeats. */
const MAX_QUOTED_TEXT = 80;
/** Items of a list that a message quotes; it counts the rest. */
const MAX_QUOTED_ITEMS = 5;

/**
 * `text` as a JSON string for a message: cut, with each control or invisible character as
 * `\u{…}`.
 *
 * @param length - how many UTF-16 units are shown at most
 */
export function quote(text: string, length = MAX_QUOTED_TEXT): string {
  const cut = text.length > length ? `${text.slice(0, length)}…` : text;
  return printable(JSON.stringify(cut.toWellFormed()));
}

/** The first five of `texts`, each by {@link quote}, and how many more there are. */
export function quoteList(texts: readonly string[]): string {
  const named = texts.slice(0, MAX_QUOTED_ITEMS).map((text) => quote(text));
  const more = texts.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}

/**
 * `text` on one line, whole and unquoted: each control or invisible character, line ends
 * included, as `\u{…}`. For messages on their way to a condition, an Event, a log or a terminal.
 */
export function printable(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u{${hexOf(character.codePointAt(0) ?? 0)}}`);
}

/** What every shell takes as it is, and no command for an option. */
const PLAIN_WORD = /^[\w.:@/][\w.:@/=+-]*$/;

/**
 * `text` as one word of a command that people copy into a shell. Names of CertificateSigningRequests may hold anything
 * but `/` and `%`, so that one can end in a command of its own, or begin as an option.
 *
 * @param kind - put before a name that is none of plain letters, so that it begins no option: `csr/`
 */
export function shellWord(text: string, kind = ''): string {
  if (PLAIN_WORD.test(text)) return text;
  return `'${printable(kind + text).replaceAll("'", "'\\''")}'`;
}

/** Each line of `text` by {@link printable}: for text whose line ends are ours. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/**
 * JSON, or YAML that quotes such strings twice, with the same characters as `\uXXXX`: programs read what was
 * written, and a terminal shows it.
 *
 * @param document - has such characters only inside strings in double quotes
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
