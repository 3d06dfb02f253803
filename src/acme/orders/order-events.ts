// SPDX-License-Identifier: Apache-2.0
import type { Answer, Problem } from '../protocol/answer.ts';
import type { AcmeOrder } from '../protocol/orders.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import type { OrderObjectStatus } from '#api/acme/order.ts';
import type { ChildChallenge } from './order-step.ts';
import { isGone, judge, waitAfter, type AccountNews, type Attempted } from './verdict.ts';
import { UNREAD, type OrderMemory, type ServerOrder } from './memory.ts';
import { ACCOUNT_MS, pollBackOff } from './poll-intervals.ts';
import {
  changed,
  isFinalChallenge,
  NOT_WAITING,
  timeText,
  type ChallengeState,
  WAITING_FOR_CHALLENGE,
  type OrderAuthorization,
} from './status.ts';
import * as messages from './messages.ts';

/** An Order after an answer. */
export interface OrderAfter extends AccountNews {
  readonly status: OrderObjectStatus;
  readonly memory: OrderMemory;
}

/** An Order before an answer, and the time of the answer. */
export interface OrderBefore {
  readonly status: OrderObjectStatus;
  readonly memory: OrderMemory;
  readonly uid: string;
  /** Whether the Order names a certificate that it replaces. */
  readonly replaces: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Wait without a matching solver. A change of the signer wakes its Orders earlier. */
const NO_SOLVER_MS = 60_000;
const ANSWERED = { notFound: 0, limits: 0 } as const;

/**
 * Returns the Order after newOrder, a reading, or finalize: the server answers each with the order.
 */
export function afterOrder(
  before: OrderBefore,
  attempted: 'newOrder' | 'read' | 'finalize',
  answer: Answer<ServerOrder & Pick<AcmeOrder, 'url' | 'error'>>,
): OrderAfter {
  if (answer.kind !== 'ok') return afterError(before, attempted, answer);
  const { url, status: state, authorizations, finalize, certificate, error } = answer.value;
  const isSlow = state === 'processing' || (state === 'pending' && isReadAgain(before, attempted));
  const polls = isSlow ? before.memory.polls + 1 : 0;
  const server = { status: state, authorizations, finalize, certificate };
  const isIssued = certificate !== undefined;
  const memory = { ...before.memory, ...UNREAD, polls, server, isIssued };
  const status = changed(before.status, { ...NOT_WAITING, url, state });
  if (state === 'invalid') {
    const message = messages.orderInvalid([error?.type, error?.detail].join(' ').trim());
    return ended({ ...before, status, memory }, 'OrderInvalid', message);
  }
  if (!isSlow) return { status, memory };
  const nextAttemptAt = timeText(before.now + (answer.retryAfterMs ?? pollBackOff(polls)));
  return { status: changed(status, { nextAttemptAt }), memory };
}

/**
 * Reports whether a `pending` order was read before. A new process reads it once without a wait. A
 * second reading means that only polling remains: the challenges may have ended before the server
 * updates the order (cert-manager#2868).
 */
function isReadAgain({ memory }: OrderBefore, attempted: Attempted): boolean {
  return attempted === 'read' && memory.server?.status === 'pending';
}

/** An authorization at the server. */
export interface FoundAuthorization {
  readonly authorization: OrderAuthorization;
  readonly state: ChallengeState;
  /** Milliseconds since 1970. */
  readonly expires?: number | undefined;
}

/** Returns the Order after a reading of one of its authorizations. */
export function afterAuthorization(
  before: OrderBefore,
  answer: Answer<FoundAuthorization>,
): OrderAfter {
  if (answer.kind !== 'ok') return afterError(before, 'read', answer);
  const { status, memory } = before;
  const { authorization, state, expires } = answer.value;
  if (isFinalChallenge(state) && state !== 'valid')
    return ended(
      before,
      'AuthorizationNotPending',
      messages.authorizationNotPending(authorization.name, state),
    );
  const authorizations = [...(status.authorizations ?? []), authorization];
  const known = expires === undefined ? [] : [[authorization.url, expires] as const];
  const expiries = new Map([...memory.expiries, ...known]);
  return {
    status: changed(status, { ...NOT_WAITING, authorizations }),
    memory: { ...memory, ...ANSWERED, expiries },
  };
}

/**
 * Returns the Order after the download of its certificate. The caller has checked the certificate
 * against the request.
 */
export function afterDownload(before: OrderBefore, answer: Answer<string>): OrderAfter {
  if (answer.kind !== 'ok') return afterError(before, 'download', answer);
  const { status, memory, now } = before;
  const issued = { state: 'valid', certificate: answer.value, finalAt: timeText(now) } as const;
  return {
    status: changed(status, { ...NOT_WAITING, ...issued }),
    memory: { ...memory, ...ANSWERED },
  };
}

/**
 * Returns the Order after a reading of its account. The refusal concerned either the account or the
 * Order.
 */
export function afterAccount(
  before: OrderBefore,
  answer: Answer<{ readonly status: string }>,
): OrderAfter {
  const { status, memory } = before;
  if (answer.kind !== 'ok') return afterError(before, 'read', answer);
  if (answer.value.status === 'valid')
    return {
      status: changed(status, { nextAttemptAt: undefined }),
      memory: { ...memory, accountIsValid: true },
    };
  const signerProblem = messages.accountNotValid(answer.value.status);
  return { ...waiting(before, 'AccountNotValid', signerProblem, ACCOUNT_MS), signerProblem };
}

/**
 * Ends an Order whose certificate does not match the request. The certificate is not delivered, and
 * the request gets another Order.
 */
export function afterWrongCertificate(before: OrderBefore, message: string): OrderAfter {
  return ended(before, 'WrongCertificate', message);
}

/** Ends an Order one of whose Challenges failed: the server's order can only become invalid. */
export function afterFailedChallenge(
  before: OrderBefore,
  { reason, message }: { readonly reason?: string; readonly message?: string },
): OrderAfter {
  return ended(before, reason ?? 'ChallengeFailed', message ?? messages.CHALLENGE_FAILED);
}

/** Waits for a change of the signer: none of its solvers fits a name. */
export function afterNoSolver(before: OrderBefore, message: string): OrderAfter {
  return waiting(before, 'NoSolver', message, NO_SOLVER_MS);
}

function ended(
  { status, memory, now }: OrderBefore,
  reason: string,
  message: string,
  state: 'invalid' | 'failed' = 'invalid',
): OrderAfter {
  const end = { state, reason, message, finalAt: timeText(now) };
  return { status: changed(status, { ...NOT_WAITING, ...end }), memory };
}

/** Ends the request of an Order that no retry can answer. */
export function afterBadRequest(before: OrderBefore, message: string): OrderAfter {
  return ended(before, 'BadRequest', message, 'failed');
}

function afterError(
  before: OrderBefore,
  attempted: Attempted,
  error: Problem | NoAnswer,
): OrderAfter {
  const { status, uid, now, replaces } = before;
  const { accountIsValid, limits } = before.memory;
  const { failures = 0, replacesRefused = false } = status;
  const notFound = isGone(error) ? before.memory.notFound + 1 : 0;
  // The server may have done more than its last answer shows, so read its state again.
  const memory = { ...before.memory, ...UNREAD, notFound, accountIsValid, limits };
  const verdict = judge(error, {
    attempted,
    notFound,
    uid,
    accountIsValid,
    failures: failures + 1,
    limits: limits + 1,
    replaces: replaces && !replacesRefused,
  });
  if (verdict.verdict === 'withoutReplaces')
    return { status: changed(status, { ...NOT_WAITING, replacesRefused: true }), memory };
  if (!('afterMs' in verdict)) {
    const state = verdict.verdict === 'fail' ? 'failed' : 'invalid';
    return ended({ ...before, memory }, verdict.reason, verdict.message, state);
  }
  const wait = waitAfter(verdict, { failures, limits }, now);
  return {
    status: changed(status, wait.changes),
    memory: { ...memory, limits: wait.limits },
    ...wait.news,
  };
}

function waiting(
  { status, memory, now }: OrderBefore,
  reason: string,
  message: string,
  afterMs: number,
): OrderAfter {
  const nextAttemptAt = timeText(now + afterMs);
  return { status: changed(status, { reason, message, nextAttemptAt }), memory };
}

const NO_REASON = { reason: undefined, message: undefined, nextAttemptAt: undefined } as const;

/**
 * Returns the status with the wait of the Challenge that the Order waits for. Without one, removes
 * the wait of an earlier Challenge.
 */
export function showWaitFor(
  status: OrderObjectStatus,
  challenge: ChildChallenge | undefined,
): OrderObjectStatus {
  if (challenge === undefined)
    return status.reason === WAITING_FOR_CHALLENGE ? changed(status, NO_REASON) : status;
  const { metadata, spec, status: of } = challenge;
  const why = `${of.reason ?? ''}: ${of.message ?? ''}`;
  return changed(status, {
    reason: WAITING_FOR_CHALLENGE,
    message: messages.waitsForChallenge(metadata.name, spec.dnsName, why),
    nextAttemptAt: of.nextAttemptAt,
  });
}
