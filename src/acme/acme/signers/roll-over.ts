// SPDX-License-Identifier: Apache-2.0
import type { Account } from '#acme/protocol/accounts.ts';
import { waitOf } from '#acme/orders/verdict.ts';
import type { Problem } from '#acme/protocol/answer.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import type { AccountCredentials } from './account-key.ts';
import type { StatedCondition } from './signer-status.ts';
import * as messages from '../messages.ts';

/** The condition `KeyRolledOver`, and the time of the next attempt. */
export interface RollOverResult {
  readonly condition: StatedCondition;
  /** Whether to retry with a growing wait. Otherwise a change starts the next attempt. */
  readonly again: boolean;
  /** Retry-After of the server, in milliseconds. */
  readonly afterMs?: number | undefined;
}

/**
 * HTTP statuses of a server without key change: step-ca's answer, and answers for an unknown path.
 */
const NO_KEY_CHANGE: readonly number[] = [404, 405, 501];

/**
 * Returns the condition of a roll-over: the account has its new key, or the reason that it keeps
 * the old one.
 *
 * @returns undefined if no roll-over was requested
 */
export function rollOverOf(
  { keys, nextProblem }: Pick<AccountCredentials, 'keys' | 'nextProblem'>,
  account: Account,
  refusal: Problem | NoAnswer | undefined,
): RollOverResult | undefined {
  if (nextProblem !== undefined) return stays('NewKeyInvalid', nextProblem);
  if (keys.next?.thumbprint === account.key.thumbprint) {
    const message = messages.keyChanged(account.key.thumbprint);
    return { condition: { status: 'True', reason: 'KeyChanged', message }, again: false };
  }
  return refusal === undefined ? undefined : refused(refusal);
}

function refused(refusal: Problem | NoAnswer): RollOverResult {
  if (refusal.kind === 'transport') {
    // This cause is our own, not the network's: the directory lacks the resource.
    if (refusal.cause === 'no-key-change') return unsupported(refusal.detail);
    return { ...stays('ServerUnreachable', refusal.detail), again: true };
  }
  const { status, type, detail } = refusal;
  const said = messages.serverAnswer(status, type, detail);
  if (NO_KEY_CHANGE.includes(status)) return unsupported(messages.answered(said));
  if (status === 409) {
    const advice = messages.REMOVE_NEXT_KEY;
    return stays('NewKeyInUse', messages.newKeyInUse(said, advice));
  }
  const isLimit = status === 429 || type === 'rateLimited';
  const result = stays(isLimit ? 'RateLimited' : 'KeyChangeRefused', messages.answered(said));
  return { ...result, again: true, afterMs: waitOf(refusal) };
}

function unsupported(why: string): RollOverResult {
  const advice = messages.NAME_OTHER_SECRET;
  return stays('KeyChangeUnsupported', messages.keyChangeImpossible(why, advice));
}

function stays(reason: string, why: string): RollOverResult {
  const message = messages.oldKeyKept(why);
  return { condition: { status: 'False', reason, message }, again: false };
}
