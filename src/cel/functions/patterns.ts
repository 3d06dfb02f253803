// SPDX-License-Identifier: Apache-2.0
/**
 * matches(), find() and findAll(). Their pattern is a literal (guard.ts), compiled when the
 * expression is: RE2 instead of the backtracking RegExp that the CEL library would run.
 */
import { listOf, type Bound } from '../bound.ts';
import { compileRegex } from '../regex.ts';
import { toSame, toScalar, type CelFunction, type Price } from './function.ts';

/** One step of the automaton: 5 to 40 ns, measured on texts with and without a match. */
const STEP = 2;

/** Finding where a match begins runs all threads of the program: some 100 to 1,000 ns. */
const THREADS = 20;

/** `a.*b|a` looks to the end of the text for each `a`; a fast engine does, too. */
const AFTER_EACH_MATCH = 4;

function scan(perCharacter: number, result: Price['result']): Price {
  return { cost: ([text]) => perCharacter * (text?.size ?? 1), result };
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
        handler: (text: string, pattern: string) => compileRegex(pattern).test(text),
      },
    ],
    price: scan(STEP, toScalar),
  },
  {
    name: 'find',
    signatures: [
      {
        receiver: 'string',
        parameters: 'string',
        returns: 'string',
        handler: (text: string, pattern: string) => compileRegex(pattern).find(text),
      },
    ],
    price: scan(THREADS, toSame),
  },
  {
    name: 'findAll',
    signatures: [
      {
        receiver: 'string',
        parameters: 'string',
        returns: 'list<string>',
        handler: (text: string, pattern: string) => compileRegex(pattern).findAll(text, -1),
      },
      {
        receiver: 'string',
        parameters: 'string, int',
        returns: 'list<string>',
        handler: (text: string, pattern: string, limit: bigint) =>
          compileRegex(pattern).findAll(text, Number(limit)),
      },
    ],
    price: { cost: ([text]) => AFTER_EACH_MATCH * (text?.size ?? 1) ** 2, result: matchesOf },
  },
];
