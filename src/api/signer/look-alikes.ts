// SPDX-License-Identifier: Apache-2.0
/**
 * Characters that look like letters of a reserved name, in any script.
 *
 * A character resembles an ASCII letter of a prefix if one of these holds:
 *
 * 1. It is that letter.
 * 2. It is on the list below (after Unicode's confusables.txt, UTS #39). The list has letters of
 *    other scripts that fonts draw like a Latin letter in lower or upper case.
 * 3. It is a Latin letter outside ASCII: small capitals, IPA, letters with strokes.
 * 4. It is not ASCII, and another character of the same prefix is ASCII: a word has one script.
 *
 * The colon resembles every mark and symbol outside ASCII except dashes, brackets and quotation
 * marks.
 *
 * Three cases are not covered: ASCII itself (`5ystem:`, `systern:`), several characters that look
 * like one, and a word of non-ASCII letters of which one is not on the list. The API server
 * compares bytes, so none of these gets a right that its bytes do not have.
 */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  a: 'аɑαꭺꮺꓮᎪ𝈀ⲁ',
  b: 'ьвβᏼᏴꓐᏏⲃЪъƄ',
  c: 'сϲⲥꓚᏟⅽсϹ',
  d: 'ԁδꓓᎠᏧժꭰԀ',
  e: 'еεҽꓰᎬⲉꭼєэ',
  f: 'ꓝϝքғ',
  g: 'ɡցԍꓖᏀᏳ',
  h: 'һհнηꓧᎻⲏ',
  i: 'іιїꓲᎥⲓӏ',
  j: 'јϳꓙᎫյ',
  k: 'кκқԟꓗᏦⲕꮶ',
  l: 'ӏꓡᏞⳑιլ',
  m: 'мμꓟᎷⲙꮇϻ',
  n: 'пηոռꓠⲛνи',
  o: 'оοօσꓳⲟଠ০੦',
  p: 'рρꓑᏢⲣҏ',
  q: 'ԛգզ',
  r: 'гᴦꓣᎡᏒⲅꭱ',
  s: 'ѕςꓢᏚᏕտꮪꮥσ',
  t: 'тτҭꓔᎢⲧꭲ',
  u: 'υսμꓴцՍ',
  v: 'ѵνꓦᏙⲩ',
  w: 'ԝωшꓪᎳᏔա',
  x: 'хχꓫⲭҳ',
  y: 'уγүұꓬᎽᎩⲩყỿꮍ',
  z: 'ꓜᏃⲍʐ',
};

const ALIKE: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(LOOK_ALIKES).map(([letter, others]) => [
    letter,
    new Set(Array.from(others).flatMap((other) => [other, other.toLowerCase()])),
  ]),
);

/**
 * Neither a letter nor a dash, bracket or quotation mark: Po, all symbols, modifier letters,
 * spacing marks.
 */
const COLON_LIKE = /^[\p{Po}\p{S}\p{Lm}\p{Mc}]$/u;
const LATIN_LETTER = /^(?=\p{L})\p{Script=Latin}$/u;

/**
 * Reports whether `text` begins with something that looks like `prefix`.
 *
 * @param text - without invisible characters, in NFKC, lower case
 * @param prefix - likewise
 */
export function resemblesPrefix(text: string, prefix: string): boolean {
  // Marks above and below letters do not make another word.
  const found = Array.from(text.normalize('NFKD').replace(/[\p{Mn}\p{Me}]/gu, ''));
  const wanted = Array.from(prefix);
  if (found.length < wanted.length) return false;
  const pairs = wanted.map((letter, index) => ({ letter, other: found[index] ?? '' }));
  const isMixed = pairs.some(({ letter, other }) => /[a-z]/.test(letter) && letter === other);
  return pairs.every(({ letter, other }) => resembles(letter, other, isMixed));
}

function resembles(letter: string, other: string, isMixed: boolean): boolean {
  if (letter === other) return true;
  if (other < '\u0080') return false;
  if (letter === ':') return COLON_LIKE.test(other);
  if (!/[a-z]/.test(letter)) return false;
  return isMixed || LATIN_LETTER.test(other) || ALIKE.get(letter)?.has(other) === true;
}
