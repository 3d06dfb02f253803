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

type Writer = (value: unknown, precision: string | undefined) => string | undefined;

const WRITERS: Readonly<Record<string, Writer>> = {
  s: asText,
  d: (value) => (typeof value === 'bigint' ? value.toString() : undefined),
  f: (value, precision) => decimal('f', value, Number(precision ?? 6)),
  e: (value, precision) => decimal('e', value, Number(precision ?? 6)),
  x: (value) => inBase(value, 16),
  X: (value) => inBase(value, 16)?.toUpperCase(),
  o: (value) => inBase(value, 8),
  b: (value) => (typeof value === 'boolean' ? String(Number(value)) : inBase(value, 2)),
};

function clause(verb: string, value: unknown, precision: string | undefined): string {
  const text = WRITERS[verb]?.(value, precision);
  if (text === undefined) throw new TypeError(`format() cannot write this value as %${verb}`);
  return text;
}

function decimal(verb: 'f' | 'e', value: unknown, precision: number): string | undefined {
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  if (verb === 'f') return Number(value).toFixed(precision);
  return Number(value)
    .toExponential(precision)
    .replace(/e([+-])(\d)$/, 'e$10$2');
}

function inBase(value: unknown, base: 2 | 8 | 16): string | undefined {
  if (typeof value === 'bigint') return value.toString(base);
  if (typeof value === 'string' && base === 16) return Buffer.from(value).toString('hex');
  return undefined;
}

function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return `[${value.map(asText).join(', ')}]`;
  if (value === null) return 'null';
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  return typeof value === 'number' ? String(value) : undefined;
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
