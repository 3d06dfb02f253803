// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../../errors.ts';
import { MAX_COST, type Compiled } from '../compile.ts';
import { MAX_COMPILE_WORK, compileWorkOf, type PatternSet } from '../pattern/regex.ts';

/**
 * Most that all expressions of a part of a spec may cost for one request: a hostile request holds up
 * those behind it for less than 100 ms, however many expressions there are.
 */
const MAX_BUDGET = 5 * MAX_COST;

/**
 * Takes in each expression of a part of a spec as soon as it is compiled, and gives it back: what is too
 * much is refused before the rest is compiled.
 *
 * @param where - the part of the spec
 * @throws SignerError CEL_COST (`wait`), naming the dearest expression
 */
export function createBudget(where: string): <C extends Entry>(compiled: C) => C {
  const patterns: PatternSet = new Set();
  let cost = 0;
  let dearest: Entry = { where, cost: 0, patterns: [] };

  return (compiled) => {
    cost += compiled.cost;
    if (compiled.cost > dearest.cost) dearest = compiled;
    for (const each of compiled.patterns) patterns.add(each);
    if (cost > MAX_BUDGET) {
      throw tooMuch(
        `${where}: its expressions may cost ${cost} together at worst, and ${MAX_BUDGET} is the limit; ${dearest.where} costs most (${dearest.cost})`,
      );
    }
    if (compileWorkOf(patterns) > MAX_COMPILE_WORK) {
      throw tooMuch(
        `${where}: the patterns up to ${compiled.where} take too much to make; use fewer, or repeat less in them`,
      );
    }
    return compiled;
  };
}

type Entry = Pick<Compiled<never>, 'where' | 'cost' | 'patterns'>;

function tooMuch(message: string): SignerError {
  return new SignerError({ code: 'CEL_COST', disposition: 'wait', message });
}
