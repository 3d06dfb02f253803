// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../../errors.ts';
import { BUDGET_MS_PER_SECOND, type BudgetRefusal, type Spender } from './namespace-budget.ts';
import { SLICE_MS } from './turn.ts';

/** Milliseconds until work is tried again that the machine or other signers left no time for. */
const TURNS_TAKEN_MS = 250;

/** Work on what is in a signer's spec has to wait, through no fault of the request. */
export class PutOff extends Error {
  /** CamelCase, for metrics and Events. */
  readonly reason: 'CelBudgetSpent' | 'CelTurnsTaken';
  /** In how many milliseconds to try again. */
  readonly waitMs: number;
  /** What spent most of the budget at once. */
  readonly dearest: Spender | undefined;

  constructor(init: Pick<PutOff, 'reason' | 'message' | 'waitMs' | 'dearest'>) {
    super(init.message);
    this.name = 'PutOff';
    this.reason = init.reason;
    this.waitMs = init.waitMs;
    this.dearest = init.dearest;
  }
}

/** One piece of a signer's spec takes longer than a turn of the event loop, again and again. */
export class Overrun extends SignerError {
  /** The field, such as `spec.requests.rules[0].when`. */
  readonly where: string;

  constructor(step: 'compile' | 'evaluate', where: string) {
    super({
      code: step === 'compile' ? 'CEL_COST' : 'CEL_EVALUATION',
      disposition: 'wait',
      message: `${where}: was ended after ${SLICE_MS} ms, which is all the time that a signer has at once; simplify the expression or its patterns`,
    });
    this.where = where;
  }
}

/** The namespace's Signers have used their time. */
export function budgetSpent(namespace: string, { waitMs, dearest }: BudgetRefusal): PutOff {
  const { signer, where } = dearest;
  return new PutOff({
    reason: 'CelBudgetSpent',
    waitMs,
    dearest,
    message: `the Signers of namespace ${namespace} have used their ${BUDGET_MS_PER_SECOND} ms of processor time a second, and requests wait; what took most at once is ${where} of Signer ${namespace}/${signer}: simplify it, or request less often`,
  });
}

/** Nothing is wrong with the signer: its work did not get a turn, or the thread did not run. */
export function turnsTaken(where: string): PutOff {
  return new PutOff({
    reason: 'CelTurnsTaken',
    waitMs: TURNS_TAKEN_MS,
    dearest: undefined,
    message: `${where}: the machine is busy and left its ${SLICE_MS} ms to others; it is tried again`,
  });
}
