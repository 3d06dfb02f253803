// SPDX-License-Identifier: Apache-2.0
/**
 * The functions of the CEL library that expressions may call. The library has more (timestamps in the
 * local time zone, JSON, conversions that read '' as 0); a function not listed in this folder cannot be
 * called.
 */
import { volume, type Bound } from '../cost/bound.ts';
import { linear, toScalar, type CelFunction } from './function.ts';
import { indexIn } from './search.ts';

/** Characters of the longest number or boolean as a string: a double. */
const NUMBER_TEXT = 32;

/** BigInt('') is 0 and BigInt('0b1') is 1; CEL's int() refuses both. */
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

/** A string is counted character by character; a list and a map store their size. */
const counted = ([of]: readonly Bound[]): number =>
  of === undefined || of.of !== undefined ? 0 : 0.6 * of.size;

export const BUILTIN: readonly CelFunction[] = [
  { name: 'size', signatures: [], price: { cost: counted, result: toScalar } },
  { name: 'startsWith', signatures: [], price: linear(toScalar) },
  { name: 'endsWith', signatures: [], price: linear(toScalar) },
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
