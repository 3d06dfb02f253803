// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../../errors.ts';
import { MAX_COST, type Compiled } from '../compile.ts';
import { MAX_COMPILE_WORK, compileWorkOf, type PatternSet } from '../pattern/regex.ts';

/**
 * Maximum cost of all expressions of one part of a spec for one request: a hostile request delays others
 * by less than 100 ms, however many expressions there are.
 */
const MAX_BUDGET = 5 * MAX_COST;

/**
 * Makes a function that adds each compiled expression of one part of a spec to its budget and returns
 * it unchanged. Call it after each compilation: an expression over the budget then stops the rest.
 *
 * @param where - the part of the spec, such as `spec.requests`
 * @throws SignerError CEL_COST (`wait`), naming the most expensive expression (the returned function does)
 */
export function createBudget(where: string): <C extends Entry>(compiled: C) => C {
  const patterns: PatternSet = new Set();
  let cost = 0;
  let mostExpensive: Entry = { where, cost: 0, patterns: [] };

  return (compiled) => {
    cost += compiled.cost;
    if (compiled.cost > mostExpensive.cost) mostExpensive = compiled;
    for (const each of compiled.patterns) patterns.add(each);
    if (cost > MAX_BUDGET) {
      throw overBudget(
        `${where}: the worst-case cost of all its expressions is ${cost}, more than the limit of ${MAX_BUDGET}; simplify ${mostExpensive.where} first (${mostExpensive.cost})`,
      );
    }
    if (compileWorkOf(patterns) > MAX_COMPILE_WORK) {
      throw overBudget(
        `${where}: the patterns up to ${compiled.where} exceed the compile limit; use fewer patterns, or fewer and smaller repetitions`,
      );
    }
    return compiled;
  };
}

type Entry = Pick<Compiled<never>, 'where' | 'cost' | 'patterns'>;

function overBudget(message: string): SignerError {
  return new SignerError({ code: 'CEL_COST', disposition: 'wait', message });
}
