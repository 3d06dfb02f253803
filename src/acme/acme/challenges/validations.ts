// SPDX-License-Identifier: Apache-2.0
/**
 * Counter of failed validations. A Challenge takes a share before the server validates, and returns
 * it without a failure.
 */
import { isFinalChallenge } from '#acme/orders/status.ts';
import type { CallDeferral } from '../context.ts';
import type { HeldChallenge, Term } from '../store/leader-state.ts';
import * as messages from '../messages.ts';

/** Key of the server's count of failures. */
interface ValidationKey {
  /** URL of the account. */
  readonly account: string;
  readonly dnsName: string;
}

/** @returns the time until which it waits, or undefined after it took its share, once */
export function takeValidation(
  { budgets }: Pick<Term, 'budgets'>,
  held: HeldChallenge,
  { account, dnsName }: ValidationKey,
  now: number,
): number | undefined {
  if (held.hasShare === true) return undefined;
  const until = budgets.takeValidation(account, dnsName, now);
  held.hasShare = until === undefined;
  return until;
}

/** Settles the share after the server validated the name. */
export function settleValidation(
  { budgets }: Pick<Term, 'budgets'>,
  held: HeldChallenge,
  { account, dnsName }: ValidationKey,
  now: number,
): void {
  const { state } = held.status;
  if (!isFinalChallenge(state)) return;
  const { hasShare = false } = held;
  held.hasShare = false;
  if (hasShare && state !== 'invalid') budgets.countValidation(account, dnsName, 1, now);
  if (!hasShare && state === 'invalid') budgets.countValidation(account, dnsName, -1, now);
}

export function validationBudget(dnsName: string, until: number): CallDeferral {
  const message = messages.validationBudget(dnsName);
  return { reason: 'ValidationBudget', message, until };
}
