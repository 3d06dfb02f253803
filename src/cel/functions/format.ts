// SPDX-License-Identifier: Apache-2.0
/** `'…%s…'.format([…])` of CEL's strings library. */
import { volume, type Bound } from '../bound.ts';
import type { CelFunction, Price } from './function.ts';

const CLAUSE = /%(?:\.(\d{1,2}))?(.)/gsu;

function format(template: string, values: readonly unknown[]): string {
  let used = 0;
  const text = template.replace(CLAUSE, (_all, precision: string | undefined, verb: string) => {
    if (verb === '%') return '%';
    if (used >= values.length) throw new RangeError(`format() lacks a value for %${verb}`);
    return clause(verb, values[used++], precision);
  });
  if (used < values.length) throw new RangeError('format() has more values than clauses');
  return text;
}

function clause(verb: string, value: unknown, precision: string | undefined): string {
  switch (verb) {
    case 's':
      return asText(value);
    case 'd':
      if (typeof value === 'bigint') return value.toString();
      break;
    case 'f':
    case 'e':
      if (typeof value === 'number' || typeof value === 'bigint') {
        return decimal(verb, Number(value), Number(precision ?? 6));
      }
      break;
    case 'x':
    case 'X':
    case 'o':
    case 'b':
      return inBase(verb, value);
  }
  throw new TypeError(`format() cannot write this value as %${verb}`);
}

function decimal(verb: 'f' | 'e', value: number, precision: number): string {
  if (verb === 'f') return value.toFixed(precision);
  return value.toExponential(precision).replace(/e([+-])(\d)$/, 'e$10$2');
}

const BASES: Readonly<Record<string, number>> = { x: 16, X: 16, o: 8, b: 2 };

function inBase(verb: string, value: unknown): string {
  const text = digits(verb, value);
  if (text === undefined) throw new TypeError(`format() cannot write this value as %${verb}`);
  return verb === 'X' ? text.toUpperCase() : text;
}

function digits(verb: string, value: unknown): string | undefined {
  if (typeof value === 'bigint') return value.toString(BASES[verb]);
  if (verb === 'b' && typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'string' && BASES[verb] === 16) return Buffer.from(value).toString('hex');
  return undefined;
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return `[${value.map(asText).join(', ')}]`;
  if (typeof value === 'bigint' || typeof value === 'boolean' || typeof value === 'number') {
    return String(value);
  }
  if (value === null) return 'null';
  throw new TypeError('format() cannot write this value as %s');
}

/** %b writes 64 digits for one number, %.99f a hundred; texts twice as long in hexadecimal. */
const LONGEST_NUMBER = 420;

function written([template, values]: readonly Bound[]): Bound {
  const items = values?.size ?? 0;
  return {
    size: (template?.size ?? 0) + items * LONGEST_NUMBER + 2 * volume(values ?? { size: 0 }),
  };
}

const PRICE: Price = { cost: (args) => 0.1 * written(args).size, result: written };

export const FORMAT: readonly CelFunction[] = [
  {
    name: 'format',
    signatures: [{ receiver: 'string', parameters: 'list', returns: 'string', handler: format }],
    price: PRICE,
  },
];
