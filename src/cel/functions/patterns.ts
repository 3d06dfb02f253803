// SPDX-License-Identifier: Apache-2.0
/**
 * `matches()`, `find()` and `findAll()`. Their pattern is a string literal (validator.ts) and is
 * compiled with the expression. RE2 replaces the backtracking RegExp of the CEL library.
 */
import { listOf, type Bound } from '../cost/bound.ts';
import { compileRegex } from '../pattern/regex.ts';
import { toSame, toScalar, type CelFunction } from './function.ts';

/** Fixed cost of a match, for any text: 0.2 µs. */
const ONE_MATCH = 10;

/** Cost of one step of the automaton: 5 to 40 ns, measured on strings with and without a match. */
const STEP = 2;

/**
 * Cost of one instruction on one character, about 15 ns. To find the start of a match, all may run.
 */
const INSTRUCTION = 1;

/** Fixed cost of a search, for any pattern. */
const MIN_THREADS = 20;

/** Cost to create a matcher, for any text: 1 µs. */
const MATCHER = 60;

/** Returns the cost to find one match. */
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
    price: { cost: ([text]) => ONE_MATCH + STEP * (text?.size ?? 1), result: toScalar },
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
    price: { cost: (args) => MATCHER + searched(args, MIN_THREADS), result: toSame },
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
    // `a.*b|a` reads to the end of the text for each `a`, in any engine.
    price: {
      cost: (args) => MATCHER + (args[0]?.size ?? 1) * searched(args, 4),
      result: matchesOf,
    },
  },
];
