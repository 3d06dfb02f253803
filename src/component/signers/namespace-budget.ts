// SPDX-License-Identifier: Apache-2.0
import type { Monotonic } from '#base/ports.ts';

/**
 * Milliseconds of the thread's CPU time in each second, for all Signers of a namespace together. A
 * usual decision takes a tenth of a millisecond. A namespace may save up as much, so that the first
 * requests after a pause are not slow.
 */
export const BUDGET_MS_PER_SECOND = 100;

/**
 * The least reservation of a waiting request. It reserves the usual time of its namespace, or at
 * least this.
 */
const MIN_SHARE_MS = 0.2;
/** The weight of the last work in the usual time. */
const SMOOTHING = 0.1;
/** The sweep drops full budgets when this many more namespaces are known. */
const SWEEP_AFTER = 256;

/** The evaluated or compiled piece, for people: a Signer and one of its fields. */
export interface Spender {
  readonly signer: string;
  readonly where: string;
}

/** The CPU time of namespaces. */
export interface NamespaceBudgets {
  /**
   * @returns undefined if work may begin. Otherwise the budget is spent, and the work has a place
   *   in the line of its namespace.
   */
  readonly refusal: (namespace: string) => BudgetRefusal | undefined;
  /**
   * Subtracts milliseconds of the thread's CPU time. The last work may have overdrawn the budget.
   */
  readonly charge: (namespace: string, milliseconds: number, spender: Spender) => void;
}

/** The reason why work may not begin now. */
export interface BudgetRefusal {
  /** Milliseconds until its turn in the line. */
  readonly waitMs: number;
  /** The longest piece of work since the budget was last full. */
  readonly topSpender: Spender & { readonly ms: number };
}

interface Budget {
  /** Milliseconds that are left. Negative if it is overdrawn. */
  level: number;
  at: number;
  /** The usual time of one piece of work. */
  usual: number;
  /** The time of the last turn in the line. */
  lineEnds: number;
  topSpender: BudgetRefusal['topSpender'];
}

/** Creates the budgets of all namespaces, each of them full. */
export function createNamespaceBudgets(clock: Monotonic): NamespaceBudgets {
  const known = new Map<string, Budget>();
  let sweepAt = SWEEP_AFTER;

  function filled(namespace: string): Budget | undefined {
    const budget = known.get(namespace);
    if (budget === undefined) return undefined;
    const now = clock();
    budget.level += ((now - budget.at) * BUDGET_MS_PER_SECOND) / 1_000;
    budget.at = now;
    if (budget.level < BUDGET_MS_PER_SECOND) return budget;
    known.delete(namespace);
    return undefined;
  }

  function opened(namespace: string, spender: Spender): Budget {
    if (known.size >= sweepAt) {
      for (const each of [...known.keys()]) filled(each);
      sweepAt = known.size + SWEEP_AFTER;
    }
    const [level, at] = [BUDGET_MS_PER_SECOND, clock()];
    const made = { level, at, usual: 0, lineEnds: at, topSpender: { ...spender, ms: 0 } };
    known.set(namespace, made);
    return made;
  }

  return {
    refusal: (namespace) => {
      const budget = filled(namespace);
      if (budget === undefined || budget.level > 0) return undefined;
      const perMs = 1_000 / BUDGET_MS_PER_SECOND;
      const own = Math.max(MIN_SHARE_MS, budget.usual) * perMs;
      const refilled = budget.at - budget.level * perMs;
      budget.lineEnds = Math.max(budget.lineEnds, refilled) + own;
      return { waitMs: budget.lineEnds - budget.at, topSpender: budget.topSpender };
    },
    charge: (namespace, milliseconds, spender) => {
      const budget = filled(namespace) ?? opened(namespace, spender);
      budget.level -= milliseconds;
      budget.usual += SMOOTHING * (milliseconds - budget.usual);
      if (milliseconds > budget.topSpender.ms) budget.topSpender = { ...spender, ms: milliseconds };
    },
  };
}
