// SPDX-License-Identifier: Apache-2.0
import type { Answer } from '../protocol/answer.ts';
import { REVOCATION_CODES, type RevocationReasonName } from '#api/acme/names.ts';
import type { OrderObjectStatus } from '#api/acme/order.ts';
import { changed, timeText, waitsUntil } from './status.ts';
import { judge } from './verdict.ts';
import * as messages from './messages.ts';

/**
 * Progress of the revocation of an Order's certificate. `refused`: another request changes nothing,
 * unless it has another reason.
 */
export type OrderRevocation = NonNullable<OrderObjectStatus['revocation']>;

/** Input of the decision on a revocation's next step. */
export interface RevocationView {
  readonly status: OrderRevocation | undefined;
  /** The annotation. An empty one counts as absent, as in the policy that guards it. */
  readonly requested: string | undefined;
  /** End of the certificate. Milliseconds since 1970. */
  readonly notAfter: number;
}

/** Next action for a revocation. */
export type RevocationStep =
  | { readonly step: 'revoke'; readonly asked: RevocationReasonName }
  | { readonly step: 'wait'; readonly until: number }
  /** No call is necessary: the Order gets this status. */
  | { readonly step: 'note'; readonly status: OrderRevocation | undefined };

/**
 * Returns the next step of a revocation (RFC 8555 §7.6). A revoked certificate stays revoked,
 * whatever a later annotation requests.
 *
 * @param now - milliseconds since 1970
 */
export function nextRevocationStep(
  { status, requested, notAfter }: RevocationView,
  now: number,
): RevocationStep {
  if (status?.state === 'revoked') return { step: 'note', status };
  if (isNone(requested)) return { step: 'note', status: undefined };
  if (!isReason(requested)) return { step: 'note', status: unknownReason(requested) };
  const before = status?.asked === requested ? status : undefined;
  if (before?.state === 'refused') return { step: 'note', status: before };
  return notAfter <= now
    ? { step: 'note', status: expired(requested, now) }
    : askStep(requested, before, now);
}

function isNone(requested: string | undefined): requested is '' | undefined {
  return requested === undefined || requested === '';
}

function askStep(
  asked: RevocationReasonName,
  before: OrderRevocation | undefined,
  now: number,
): RevocationStep {
  const until = before === undefined ? undefined : waitsUntil(before, now);
  return until === undefined ? { step: 'revoke', asked } : { step: 'wait', until };
}

function unknownReason(requested: string): OrderRevocation {
  const known = Object.keys(REVOCATION_CODES).join(', ');
  const message = messages.unknownReason(requested, known);
  return refused({ reason: 'ReasonUnknown', message });
}

function expired(asked: RevocationReasonName, now: number): OrderRevocation {
  const message = messages.CERTIFICATE_EXPIRED;
  return refused({ reason: 'Expired', message, asked }, now);
}

function isReason(requested: string): requested is RevocationReasonName {
  return Object.hasOwn(REVOCATION_CODES, requested);
}

/** Returns the code of a reason (RFC 5280 §5.3.1). */
export function codeOfReason(
  asked: RevocationReasonName,
): (typeof REVOCATION_CODES)[RevocationReasonName] {
  return REVOCATION_CODES[asked];
}

function refused(
  why: Pick<OrderRevocation, 'reason' | 'message' | 'asked'>,
  finalAt?: number,
): OrderRevocation {
  const status = { ...why, state: 'refused' } as const;
  return finalAt === undefined ? status : { ...status, finalAt: timeText(finalAt) };
}

/** A revocation before an answer, and the time of the answer. */
export interface RevocationBefore {
  readonly status: OrderRevocation | undefined;
  readonly asked: RevocationReasonName;
  /** uid of the Order. */
  readonly uid: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Returns the revocation after the CA's answer. `alreadyRevoked` is a success: an earlier answer
 * was lost, or another client was faster. A refusal or a limit affects the revocation only, and no
 * Order.
 */
export function afterRevocation(before: RevocationBefore, answer: Answer<null>): OrderRevocation {
  const { asked, uid, now } = before;
  if (answer.kind === 'ok' || (answer.kind === 'problem' && answer.type === 'alreadyRevoked'))
    return { asked, state: 'revoked', finalAt: timeText(now) };
  const failures = failuresOf(before) + 1;
  // Judge it as a reading: it repeats nothing of the Order, and a temporary refusal is not final.
  const verdict = judge(answer, {
    attempted: 'read',
    failures,
    limits: failures,
    notFound: 0,
    uid,
    replaces: false,
    accountIsValid: true,
  });
  if (!('message' in verdict)) throw new Error('a revocation has nothing that it replaces');
  const { reason, message } = verdict;
  if (isFinal(answer) || !('afterMs' in verdict)) return refused({ reason, message, asked }, now);
  const counted = verdict.counts === 'requestedLimit' ? failures - 1 : failures;
  return pending(asked, counted, { reason, message, until: now + verdict.afterMs });
}

/** The CA never revokes for this reason (RFC 8555 §7.6). */
function isFinal(answer: Exclude<Answer<null>, { readonly kind: 'ok' }>): boolean {
  return answer.kind === 'problem' && answer.type === 'badRevocationReason';
}

function failuresOf({ status, asked }: Pick<RevocationBefore, 'status' | 'asked'>): number {
  return status?.asked === asked ? (status.failures ?? 0) : 0;
}

/** Reason that a revocation waits. */
interface Hindrance {
  readonly reason: string;
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly until?: number | undefined;
}

/** Returns a revocation that waits before a call to the CA. */
export function heldRevocation(
  { status, asked }: Pick<RevocationBefore, 'status' | 'asked'>,
  why: Hindrance,
): OrderRevocation {
  return pending(asked, failuresOf({ status, asked }), why);
}

function pending(
  asked: RevocationReasonName,
  failures: number,
  { reason, message, until }: Hindrance,
): OrderRevocation {
  const status: OrderRevocation = { asked, state: 'pending', reason, message };
  const counted = failures === 0 ? undefined : failures;
  return changed(status, { failures: counted, nextAttemptAt: timeText(until) });
}
