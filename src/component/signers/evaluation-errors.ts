// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import { BUDGET_MS_PER_SECOND, type BudgetRefusal, type Spender } from './namespace-budget.ts';
import { SLICE_MS } from './cpu-slice.ts';

/** Milliseconds until work is tried again for which the machine or other signers left no time. */
const TURNS_TAKEN_MS = 250;

/** Evaluation is deferred, although the request is correct: retry after `waitMs`. */
export class EvaluationDeferred extends Error {
  /** CamelCase, for metrics and Events. */
  readonly reason: 'CelBudgetSpent' | 'CelThrottled';
  /** The milliseconds until the next attempt. */
  readonly waitMs: number;
  /** The field that spent most of the budget at once. */
  readonly topSpender: Spender | undefined;

  constructor(init: Pick<EvaluationDeferred, 'reason' | 'message' | 'waitMs' | 'topSpender'>) {
    super(init.message);
    this.name = 'EvaluationDeferred';
    this.reason = init.reason;
    this.waitMs = init.waitMs;
    this.topSpender = init.topSpender;
  }
}

/** A piece of a signer's spec repeatedly takes longer than a turn of the event loop. */
export class EvaluationTimeout extends SignerError {
  /** The field, such as `spec.requests.rules[0].when`. */
  readonly where: string;

  constructor(step: 'compile' | 'evaluate', where: string) {
    super({
      code: step === 'compile' ? 'CEL_COST' : 'CEL_EVALUATION',
      disposition: 'wait',
      message: `${where}: exceeded the ${SLICE_MS} ms limit for one evaluation; simplify the expression or its patterns`,
    });
    this.where = where;
  }
}

/** Returns the error of a namespace whose Signers have used their time. */
export function budgetSpent(
  namespace: string,
  { waitMs, topSpender }: BudgetRefusal,
): EvaluationDeferred {
  const { signer, where } = topSpender;
  return new EvaluationDeferred({
    reason: 'CelBudgetSpent',
    waitMs,
    topSpender,
    message: `the Signers of namespace ${namespace} have used their ${BUDGET_MS_PER_SECOND} ms of CPU time per second, and requests wait; the most expensive field is ${where} of Signer ${namespace}/${signer}: simplify it, or create fewer requests`,
  });
}

/**
 * Returns the error of a correct signer whose work did not get a turn, or whose thread did not run.
 */
export function throttled(where: string): EvaluationDeferred {
  return new EvaluationDeferred({
    reason: 'CelThrottled',
    waitMs: TURNS_TAKEN_MS,
    topSpender: undefined,
    message: `${where}: the machine is busy and other work used its ${SLICE_MS} ms; retrying`,
  });
}
