// SPDX-License-Identifier: Apache-2.0
/**
 * Functions of the CEL library that expressions may call. The library has more: timestamps in the
 * local time zone, JSON, conversions that read '' as 0. Expressions cannot call a function that
 * this folder does not list.
 */
import { SCALAR, volume, type Bound } from '../cost/bound.ts';
import { linear, toScalar, type CelFunction } from './function.ts';
import { indexIn } from './search.ts';

/** Characters of the longest number or boolean as a string: a double. */
const NUMBER_TEXT = 32;

/** Parses an int. BigInt('') is 0 and BigInt('0b1') is 1, but CEL's int() rejects both. */
function int(text: string): bigint {
  if (!/^[+-]?[0-9]{1,19}$/.test(text)) throw new TypeError('int() needs a string of digits');
  const value = BigInt(text.replace('+', ''));
  if (BigInt.asIntN(64, value) !== value)
    throw new RangeError('int() needs a number of at most 64 bits');
  return value;
}

const joined = ([items, separator]: readonly Bound[]): Bound => ({
  size: volume(items ?? { size: 0 }) + (items?.size ?? 0) * (separator?.size ?? 0),
});

/**
 * Returns the cost of `size`. A string is counted character by character, while a list and a map
 * store their size.
 */
const counted = ([of]: readonly Bound[]): number =>
  of === undefined || of.of !== undefined ? 0 : 0.6 * of.size;

/**
 * Returns the cost to compare one end of a string. V8 compares character by character: 2 ns each,
 * and up to 11 ns where one string has characters above U+00FF and the other has none.
 */
const atEnd = ([text = SCALAR, part = SCALAR]: readonly Bound[]): number =>
  0.3 * Math.min(text.size, part.size);

export const BUILTIN: readonly CelFunction[] = [
  { name: 'size', signatures: [], price: { cost: counted, result: toScalar } },
  { name: 'startsWith', signatures: [], price: { cost: atEnd, result: toScalar } },
  { name: 'endsWith', signatures: [], price: { cost: atEnd, result: toScalar } },
  {
    name: 'contains',
    shadows: true,
    signatures: [
      {
        receiver: 'string',
        parameters: 'string',
        returns: 'bool',
        handler: (text: string, part: string) => indexIn(text, part) !== -1,
      },
    ],
    price: linear(toScalar, 1),
  },
  {
    name: 'join',
    signatures: [],
    price: { cost: (args) => 0.2 * joined(args).size, result: joined },
  },
  {
    name: 'string',
    signatures: [],
    price: linear(([value]) => ({ size: Math.max(value?.size ?? 1, NUMBER_TEXT) })),
  },
  {
    name: 'int',
    shadows: true,
    signatures: [
      { parameters: 'string', returns: 'int', handler: int },
      { parameters: 'int', returns: 'int', handler: (value: bigint) => value },
    ],
    price: linear(toScalar),
  },
];
