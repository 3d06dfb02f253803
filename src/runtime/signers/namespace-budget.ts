// SPDX-License-Identifier: Apache-2.0
import type { Monotonic } from '../../ports.ts';

/**
 * Milliseconds of the thread's CPU time in each second, for all Signers of a namespace together. A usual decision
 * takes a tenth of a millisecond. A namespace may save up as much: the first requests after a pause are not slow.
 */
export const BUDGET_MS_PER_SECOND = 100;

/** A request that waits reserves the time of a usual one of its namespace, and at least this. */
const LEAST_SHARE_MS = 0.2;
/** How quickly the usual time follows the last ones. */
const SMOOTHING = 0.1;
/** Full budgets are dropped when this many more namespaces are known. */
const SWEEP_AFTER = 256;

/** What was evaluated or compiled, for people: a Signer and one of its fields. */
export interface Spender {
  readonly signer: string;
  readonly where: string;
}

/** How namespaces use the thread. */
export interface NamespaceBudgets {
  /**
   * @returns undefined: work may begin. Otherwise the budget is spent, and the work has a place in the line of its
   * namespace
   */
  readonly refusal: (namespace: string) => BudgetRefusal | undefined;
  /** Subtracts milliseconds of the thread's CPU time. The last work may have overdrawn the budget. */
  readonly charge: (namespace: string, milliseconds: number, spender: Spender) => void;
}

/** Why work may not begin now. */
export interface BudgetRefusal {
  /** Milliseconds until its turn in the line. */
  readonly waitMs: number;
  /** What took the longest at once since the budget was last full. */
  readonly dearest: Spender & { readonly ms: number };
}

interface Budget {
  /** Milliseconds that are left; negative where it is overdrawn. */
  level: number;
  at: number;
  /** What one piece of work usually takes. */
  usual: number;
  /** When the last one in the line has its turn. */
  lineEnds: number;
  dearest: BudgetRefusal['dearest'];
}

/** Makes the budgets of all namespaces; each is full at first. */
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
    const made = { level, at, usual: 0, lineEnds: at, dearest: { ...spender, ms: 0 } };
    known.set(namespace, made);
    return made;
  }

  return {
    refusal: (namespace) => {
      const budget = filled(namespace);
      if (budget === undefined || budget.level > 0) return undefined;
      const perMs = 1_000 / BUDGET_MS_PER_SECOND;
      const own = Math.max(LEAST_SHARE_MS, budget.usual) * perMs;
      const refilled = budget.at - budget.level * perMs;
      budget.lineEnds = Math.max(budget.lineEnds, refilled) + own;
      return { waitMs: budget.lineEnds - budget.at, dearest: budget.dearest };
    },
    charge: (namespace, milliseconds, spender) => {
      const budget = filled(namespace) ?? opened(namespace, spender);
      budget.level -= milliseconds;
      budget.usual += SMOOTHING * (milliseconds - budget.usual);
      if (milliseconds > budget.dearest.ms) budget.dearest = { ...spender, ms: milliseconds };
    },
  };
}
