// SPDX-License-Identifier: Apache-2.0
/**
 * matches(), find() and findAll(). Their pattern is a literal (guard.ts), compiled when the
 * expression is: RE2 instead of the backtracking RegExp that the CEL library would run.
 */
import { listOf, type Bound } from '../cost/bound.ts';
import { compileRegex } from '../pattern/regex.ts';
import { toSame, toScalar, type CelFunction } from './function.ts';

/** One step of the automaton: 5 to 40 ns, measured on texts with and without a match. */
const STEP = 2;

/** One instruction on one character, some 15 ns: where a match begins all may have to be looked at. */
const INSTRUCTION = 1;

/** Of a search: what it takes however short the pattern is. */
const LEAST_THREADS = 20;

/** What finding one place costs. */
function searched([text, pattern]: readonly Bound[], least: number): number {
  const size = pattern?.text === undefined ? 1 : compileRegex(pattern.text, 'place').size;
  return (text?.size ?? 1) * Math.max(least, INSTRUCTION * size);
}

const matchesOf = ([text]: readonly Bound[]): Bound =>
  listOf((text?.size ?? 1) + 1, { size: text?.size ?? 1 });

/** Names of functions whose first argument is a pattern. */
export const PATTERN_FUNCTIONS: ReadonlySet<string> = new Set(['matches', 'find', 'findAll']);

export const PATTERNS: readonly CelFunction[] = [
  {
    name: 'matches',
    shadows: true,
    signatures: [
      {
        receiver: 'string',
        parameters: 'string',
        returns: 'bool',
        handler: (text: string, pattern: string) => compileRegex(pattern, 'part').test(text),
      },
    ],
    price: { cost: ([text]) => STEP * (text?.size ?? 1), result: toScalar },
  },
  {
    name: 'find',
    signatures: [
      {
        receiver: 'string',
        parameters: 'string',
        returns: 'string',
        handler: (text: string, pattern: string) => compileRegex(pattern, 'place').find(text),
      },
    ],
    price: { cost: (args) => searched(args, LEAST_THREADS), result: toSame },
  },
  {
    name: 'findAll',
    signatures: [
      {
        receiver: 'string',
        parameters: 'string',
        returns: 'list<string>',
        handler: (text: string, pattern: string) =>
          compileRegex(pattern, 'place').findAll(text, -1),
      },
      {
        receiver: 'string',
        parameters: 'string, int',
        returns: 'list<string>',
        handler: (text: string, pattern: string, limit: bigint) =>
          compileRegex(pattern, 'place').findAll(text, Number(limit)),
      },
    ],
    // `a.*b|a` looks to the end of the text for each `a`; a fast engine does, too.
    price: { cost: (args) => (args[0]?.size ?? 1) * searched(args, 4), result: matchesOf },
  },
];
