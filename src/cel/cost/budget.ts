// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import { MAX_COST, type CompiledExpression } from '../compile.ts';
import { MAX_COMPILE_WORK, PatternSet } from '../pattern/regex.ts';
import { MAX_VALUE } from '../pattern/value-pattern.ts';

/**
 * Limit on the cost of all expressions of one part of a spec for one request. A hostile request
 * delays others by less than 100 ms, for any number of expressions.
 */
const MAX_BUDGET = 5 * MAX_COST;

/** Cost of one instruction of a pattern's automaton (100 ns), in units of {@link MAX_COST}. */
const AUTOMATON_STEP = 5;
/** Cost to look one character of a value up in a pattern's automaton. */
const AUTOMATON_LOOKUP = 2;

/** Cost of all expressions and patterns of one part of a spec. */
export interface Budget {
  /**
   * Adds a compiled expression, and returns it unchanged. Call it after each compilation, so that
   * an expression over the budget stops the rest.
   *
   * @throws SignerError CEL_COST (`wait`), naming the most expensive expression
   */
  readonly take: <C extends Entry>(compiled: C) => C;
  /** Patterns of whole values (compileValuePattern()). */
  readonly annotations: PatternSet;
  /** Returns the worst case of one request, including the states of the patterns' automata. */
  readonly worstCase: () => number;
}

/**
 * Creates the budget of one part of a spec.
 *
 * @param where - the part of the spec, such as `spec.requests`
 */
export function createBudget(where: string): Budget {
  const patterns = new PatternSet();
  const annotations = new PatternSet();
  let cost = 0;
  let mostExpensive: Entry = { where, cost: 0, patterns: [] };

  const take = <C extends Entry>(compiled: C): C => {
    cost += compiled.cost;
    if (compiled.cost > mostExpensive.cost) mostExpensive = compiled;
    for (const each of compiled.patterns) patterns.add(each);
    if (cost > MAX_BUDGET) {
      throw overBudget(
        `${where}: the worst-case cost of all its expressions is ${cost}, more than the limit of ${MAX_BUDGET}; simplify ${mostExpensive.where} first (${mostExpensive.cost})`,
      );
    }
    if (patterns.work > MAX_COMPILE_WORK) {
      throw overBudget(
        `${where}: the patterns up to ${compiled.where} exceed the compile limit; use fewer patterns, or fewer and smaller repetitions`,
      );
    }
    return compiled;
  };
  const worstCase = (): number =>
    cost +
    AUTOMATON_STEP * (patterns.work + annotations.work) +
    AUTOMATON_LOOKUP * MAX_VALUE * [...annotations].length;
  return { take, annotations, worstCase };
}

type Entry = Pick<CompiledExpression<never>, 'where' | 'cost' | 'patterns'>;

function overBudget(message: string): SignerError {
  return new SignerError({ code: 'CEL_COST', disposition: 'wait', message });
}
