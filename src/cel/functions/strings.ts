// SPDX-License-Identifier: Apache-2.0
/**
 * CEL's strings library as in Kubernetes: case conversion is ASCII only, positions count
 * characters.
 */
import { listOf, type Bound } from '../cost/bound.ts';
import { indexIn } from './search.ts';
import { linear, toSame, toScalar, type CelFunction, type Signature } from './function.ts';

function method(
  parameters: string,
  returns: string,
  handler: Signature['handler'],
): readonly Signature[] {
  return [{ receiver: 'string', parameters, returns, handler }];
}

/** Splits into code points. */
function characters(text: string): readonly string[] {
  return Array.from(text);
}

/**
 * Returns the start of the character after the one at `unit`. A surrogate pair is one character.
 */
function next(text: string, unit: number): number {
  return unit + ((text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1);
}

/** Matches texts whose characters differ from UTF-16 units. Most texts have none. */
const SURROGATE = /[\ud800-\udfff]/;

/**
 * Returns the number of characters of `text` up to `end` (UTF-16 units). It creates no list, whose
 * collection would take milliseconds.
 */
function counted(text: string, end = text.length): number {
  if (!SURROGATE.test(text)) return end;
  let count = 0;
  for (let unit = 0; unit < end; unit = next(text, unit)) count += 1;
  return count;
}

/** Converts a position in characters, at most the end, to one in UTF-16 units. */
function unitAt(text: string, position: number): number {
  if (!SURROGATE.test(text)) return position;
  let unit = 0;
  for (let passed = 0; passed < position; passed += 1) unit = next(text, unit);
  return unit;
}

function slice(text: string, start: bigint, end?: bigint): string {
  const length = BigInt(counted(text));
  const last = end ?? length;
  if (start < 0n || last > length || start > last) {
    throw new RangeError(
      `substring(${start}, ${last}) is out of range: the string has ${length} characters`,
    );
  }
  return text.slice(unitAt(text, Number(start)), unitAt(text, Number(last)));
}

/** Converts UTF-16 position `unit` to a position in characters. -1 stays -1. */
function characterAt(text: string, unit: number): bigint {
  return unit < 0 ? -1n : BigInt(counted(text, unit));
}

function lower(text: string): string {
  return text.replace(/[A-Z]+/g, (part) => part.toLowerCase());
}

function upper(text: string): string {
  return text.replace(/[a-z]+/g, (part) => part.toUpperCase());
}

/**
 * Trims like Go's unicode.IsSpace: White_Space, without U+FEFF, which String.trim() also removes.
 */
function trim(text: string): string {
  return text
    .replace(/^\p{White_Space}+/u, '')
    .replace(/(?<!\p{White_Space})\p{White_Space}+$/u, '');
}

function split(text: string, separator: string): readonly string[] {
  return separator === '' ? characters(text) : text.split(separator);
}

/** Matches between characters. An empty string would match inside of a surrogate pair, too. */
const BETWEEN = /(?:)/gu;

/** Returns the worst case: `with` is inserted before each character. */
function replaced([text, , substitute]: readonly Bound[]): Bound {
  const size = (text?.size ?? 1) + ((text?.size ?? 1) + 1) * (substitute?.size ?? 1);
  return { size };
}

const pieces = ([text]: readonly Bound[]): Bound =>
  listOf((text?.size ?? 1) + 1, { size: text?.size ?? 1 });

/** Cost of one character, about 40 ns, if each becomes an item or a match. */
const EACH = 2;

/** Cost to compare one pair of characters. V8's search may compare all pairs. */
const PAIR = 0.02;

function compared([text, part]: readonly Bound[]): number {
  return (text?.size ?? 1) * (EACH + PAIR * (part?.size ?? 1));
}

export const STRINGS: readonly CelFunction[] = [
  {
    name: 'lowerAscii',
    shadows: true,
    signatures: method('', 'string', lower),
    price: linear(toSame, EACH),
  },
  {
    name: 'upperAscii',
    shadows: true,
    signatures: method('', 'string', upper),
    price: linear(toSame, EACH),
  },
  {
    name: 'trim',
    shadows: true,
    signatures: method('', 'string', trim),
    price: linear(toSame, 0.1),
  },
  {
    name: 'indexOf',
    shadows: true,
    signatures: method('string', 'int', (text: string, part: string) =>
      characterAt(text, indexIn(text, part)),
    ),
    price: linear(toScalar, EACH),
  },
  {
    name: 'lastIndexOf',
    shadows: true,
    signatures: method('string', 'int', (text: string, part: string) =>
      characterAt(text, text.lastIndexOf(part)),
    ),
    price: { cost: compared, result: toScalar },
  },
  {
    name: 'substring',
    shadows: true,
    signatures: [...method('int', 'string', slice), ...method('int, int', 'string', slice)],
    price: linear(toSame, EACH),
  },
  {
    name: 'charAt',
    signatures: method('int', 'string', (text: string, at: bigint) =>
      at === BigInt(counted(text)) ? '' : slice(text, at, at + 1n),
    ),
    price: linear(() => ({ size: 2 }), EACH),
  },
  {
    name: 'split',
    shadows: true,
    signatures: method('string', 'list<string>', split),
    price: { cost: compared, result: pieces },
  },
  {
    name: 'replace',
    signatures: method('string, string', 'string', (text: string, part: string, by: string) =>
      text.replaceAll(part === '' ? BETWEEN : part, () => by),
    ),
    price: { result: replaced, cost: (args) => 2 * compared(args) + 0.5 * replaced(args).size },
  },
];
