// SPDX-License-Identifier: Apache-2.0
import type { Account } from '../../../acme/accounts.ts';
import type { NoAnswer, Problem } from '../../../acme/answer.ts';
import type { AccountCredentials } from './account-key.ts';
import type { StatedCondition } from './signer-status.ts';

/** The condition `KeyRolledOver`, and when the change is tried again. */
export interface RollOverResult {
  readonly condition: StatedCondition;
  /** Whether a growing wait is wanted; else it is tried again when something changes. */
  readonly again: boolean;
  /** What the server asks for, in milliseconds. */
  readonly afterMs?: number | undefined;
}

/** HTTP statuses of a server that has no key change: step-ca's answer, and those of one that has no such path. */
const NO_KEY_CHANGE: readonly number[] = [404, 405, 501];

/**
 * What is said of a roll-over: that the account has its new key, or why it keeps the old one.
 *
 * @returns undefined where none was asked for
 */
export function rollOverOf(
  { keys, nextProblem }: Pick<AccountCredentials, 'keys' | 'nextProblem'>,
  account: Account,
  refusal: Problem | NoAnswer | undefined,
): RollOverResult | undefined {
  if (nextProblem !== undefined) return stays('NewKeyInvalid', nextProblem);
  if (keys.next?.thumbprint === account.key.thumbprint) {
    const message = `the account has the new key ${account.key.thumbprint}`;
    return { condition: { status: 'True', reason: 'KeyChanged', message }, again: false };
  }
  return refusal === undefined ? undefined : refused(refusal);
}

function refused(refusal: Problem | NoAnswer): RollOverResult {
  if (refusal.kind === 'transport') {
    // The one answer of ours that is none of the network's: the directory does not name the resource.
    if (refusal.cause === 'no-key-change') return unsupported(refusal.detail);
    return { ...stays('ServerUnreachable', refusal.detail), again: true };
  }
  const { status, type, detail, retryAfterMs } = refusal;
  const said = `${status} ${type}${detail === '' ? '' : ` ${detail}`}`;
  if (NO_KEY_CHANGE.includes(status)) return unsupported(`it answered ${said}`);
  if (status === 409) {
    const advice = 'take next.key out of the Secret, and another one is made';
    return stays('NewKeyInUse', `the new key has an account already (${said}); ${advice}`);
  }
  const isLimit = status === 429 || type === 'rateLimited';
  const result = stays(isLimit ? 'RateLimited' : 'KeyChangeRefused', `it answered ${said}`);
  return { ...result, again: true, afterMs: retryAfterMs };
}

function unsupported(why: string): RollOverResult {
  const advice = 'to use another key, name another Secret in spec.acme.accountKey: a new account';
  return stays('KeyChangeUnsupported', `the ACME server cannot change the key: ${why}; ${advice}`);
}

function stays(reason: string, why: string): RollOverResult {
  const message = `the account keeps its old key: ${why}`;
  return { condition: { status: 'False', reason, message }, again: false };
}
