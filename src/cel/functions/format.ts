// SPDX-License-Identifier: Apache-2.0
/**
 * `'…%s…'.format([…])` of CEL's strings library, version 2, the one of Kubernetes. It does not
 * support doubles: CEL formats them for a locale (12,345.6 and 1.2 × 10⁰³), which does not fit a
 * name.
 */
import { volume, type Bound } from '../cost/bound.ts';
import type { CelFunction, Price } from './function.ts';

const CLAUSE = /%(?:\.\d{1,2})?(.)/gsu;

function format(template: string, values: readonly unknown[]): string {
  let used = 0;
  const text = template.replace(CLAUSE, (_all, verb: string) => {
    if (verb === '%') return '%';
    if (used >= values.length) throw new RangeError(`format() has no value for %${verb}`);
    return clause(verb, values[used++]);
  });
  if (used < values.length) throw new RangeError('format() has more values than verbs');
  return text;
}

type Writer = (value: unknown) => string | undefined;

const WRITERS: Readonly<Record<string, Writer>> = {
  s: asText,
  d: (value) => (typeof value === 'bigint' ? value.toString() : undefined),
  x: (value) => inBase(value, 16),
  X: (value) => inBase(value, 16)?.toUpperCase(),
  o: (value) => inBase(value, 8),
  b: (value) => (typeof value === 'boolean' ? String(Number(value)) : inBase(value, 2)),
};

function clause(verb: string, value: unknown): string {
  const text = WRITERS[verb]?.(value);
  if (text === undefined)
    throw new TypeError(`format() cannot write this type of value as %${verb}`);
  return text;
}

function inBase(value: unknown, base: 2 | 8 | 16): string | undefined {
  if (typeof value === 'bigint') return value.toString(base);
  if (typeof value === 'string' && base === 16) return Buffer.from(value).toString('hex');
  return undefined;
}

function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return asList(value);
  if (value === null) return 'null';
  return typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : undefined;
}

function asList(values: readonly unknown[]): string | undefined {
  const parts = values.map((each) => (typeof each === 'string' ? quoted(each) : asText(each)));
  return parts.includes(undefined) ? undefined : `[${parts.join(', ')}]`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** Quotes like Go's %q: escapes characters that do not print. */
function quoted(text: string): string {
  const escaped = text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const hex = code.toString(16);
    if (code > 0xffff) return `\\U${hex.padStart(8, '0')}`;
    return (
      ESCAPES[character] ??
      (code < 0x80 ? `\\x${hex.padStart(2, '0')}` : `\\u${hex.padStart(4, '0')}`)
    );
  });
  return `"${escaped}"`;
}

/** Characters of the longest number: %b writes up to 64 digits and a sign. */
const LONGEST_NUMBER = 65;

/** Factor of the longest character: escaped or in hexadecimal, it becomes at most six. */
const LONGEST_CHARACTER = 6;

function written([template, values]: readonly Bound[]): Bound {
  const items = values?.size ?? 0;
  return {
    size:
      (template?.size ?? 0) +
      items * LONGEST_NUMBER +
      LONGEST_CHARACTER * volume(values ?? { size: 0 }),
  };
}

/** Cost of a character inside a list, about 200 ns: it may be escaped. */
const QUOTED = 10;

function cost(args: readonly Bound[]): number {
  const [, values = { size: 0 }] = args;
  const quotes = values.of?.of === undefined ? 0 : QUOTED * volume(values);
  return 0.1 * written(args).size + quotes;
}

const PRICE: Price = { cost, result: written };

export const FORMAT: readonly CelFunction[] = [
  {
    name: 'format',
    signatures: [{ receiver: 'string', parameters: 'list', returns: 'string', handler: format }],
    price: PRICE,
  },
];
