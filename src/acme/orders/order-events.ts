// SPDX-License-Identifier: Apache-2.0
import type { Answer, Problem } from '../protocol/answer.ts';
import type { AcmeOrder } from '../protocol/orders.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import { CA_UNUSABLE, WRONG_CERTIFICATE, type OrderObjectStatus } from '#api/acme/order.ts';
import { callAfterReading, type ChildChallenge } from './order-step.ts';
import {
  isGone,
  isOfAccount,
  judge,
  ORDER_GONE,
  waitAfter,
  type AccountNews,
  type AcmeCallKind,
} from './verdict.ts';
import { UNREAD, type OrderCallName, type OrderMemory, type ServerOrder } from './memory.ts';
import { ACCOUNT_MS, pollBackOff, requestedWait } from './poll-intervals.ts';
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
/** Changes of the memory after a call passed. */
const ANSWERED = { notFound: 0, limits: 0, accountIsValid: false, failing: undefined } as const;

/** Calls that the server answers with the order. */
type CallForOrder = Extract<OrderCallName, 'newOrder' | 'readOrder' | 'finalize'>;

/**
 * Returns the Order after newOrder, a reading, or finalize: the server answers each with the order.
 */
export function afterOrder(
  before: OrderBefore,
  call: CallForOrder,
  answer: Answer<ServerOrder & Pick<AcmeOrder, 'url' | 'error'>>,
): OrderAfter {
  if (answer.kind !== 'ok') return afterError(before, call, answer);
  const { url, status: state, authorizations, finalize, certificate, error } = answer.value;
  const server = { status: state, authorizations, finalize, certificate };
  const isSlow = isUnfinished(before, call, server);
  const polls = isSlow ? before.memory.polls + 1 : 0;
  const isIssued = certificate !== undefined;
  const failing = stillFailing(before, call, server);
  const counts = failing === undefined ? {} : countsOf(before.memory);
  const memory = { ...before.memory, ...UNREAD, ...counts, failing, polls, server, isIssued };
  const noWait = failing === undefined ? NOT_WAITING : { nextAttemptAt: undefined };
  const status = changed(before.status, { ...noWait, url, state });
  if (state === 'invalid') {
    const message = messages.orderInvalid([error?.type, error?.detail].join(' ').trim());
    return ended({ ...before, status, memory }, 'OrderInvalid', message);
  }
  if (!isSlow) return { status, memory };
  const nextAttemptAt = timeText(
    before.now + (requestedWait(answer.retryAfterMs) ?? pollBackOff(polls)),
  );
  return { status: changed(status, { nextAttemptAt }), memory };
}

/** Reports whether only polling remains: the server has not finished what the last call started. */
function isUnfinished(
  before: OrderBefore,
  call: CallForOrder,
  { status, certificate }: ServerOrder,
): boolean {
  if (status === 'processing') return true;
  if (status === 'pending') return isReadAgain(before, call);
  // RFC 8555 §7.4 has neither, so a server that answers so must not be called at full speed.
  return status === 'ready' ? call === 'finalize' : status === 'valid' && certificate === undefined;
}

/**
 * Reports whether a `pending` order was read before. A new process reads it once without a wait. A
 * second reading means that only polling remains: the challenges may have ended before the server
 * updates the order (cert-manager#2868).
 */
function isReadAgain({ memory }: OrderBefore, call: CallForOrder): boolean {
  return call === 'readOrder' && memory.server?.status === 'pending';
}

/**
 * Returns the failing call that a reading leads to again. The reading passed, but the call has not:
 * the order is always read before the call is repeated.
 */
function stillFailing(
  { status, memory }: OrderBefore,
  call: CallForOrder,
  server: ServerOrder,
): OrderCallName | undefined {
  if (call !== 'readOrder' || (status.failures ?? memory.limits) === 0) return undefined;
  const next = callAfterReading(status, server);
  const isUnknown = memory.failing === undefined && status.failures !== undefined;
  return memory.failing === next || isUnknown ? next : undefined;
}

function countsOf({
  notFound,
  limits,
  accountIsValid,
}: OrderMemory): Pick<OrderMemory, 'notFound' | 'limits' | 'accountIsValid'> {
  return { notFound, limits, accountIsValid };
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
  if (answer.kind !== 'ok') return afterError(before, 'readAuthorization', answer);
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
  if (answer.kind !== 'ok') return afterError(before, 'readAccount', answer);
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
 *
 * @param isOfCa - whether every request of the signer would end so
 */
export function afterWrongCertificate(
  before: OrderBefore,
  message: string,
  isOfCa = false,
): OrderAfter {
  return ended(before, isOfCa ? CA_UNUSABLE : WRONG_CERTIFICATE, message);
}

/**
 * Ends an Order that another account created, perhaps at another server. No call of the signer's
 * account can continue the order.
 */
export function afterOtherAccount(before: OrderBefore, account: string): OrderAfter {
  const message = messages.ofOtherAccount(before.status.accountURL ?? '', account);
  return ended(before, ORDER_GONE, message);
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

/** Ends the request of an Order that no retry can answer. */
export function afterBadRequest(before: OrderBefore, message: string): OrderAfter {
  return ended(before, 'BadRequest', message, 'failed');
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

/** Kinds of the calls. */
const ATTEMPTED: Record<OrderCallName, AcmeCallKind> = {
  newOrder: 'newOrder',
  readOrder: 'read',
  readAccount: 'readAccount',
  readAuthorization: 'read',
  finalize: 'finalize',
  download: 'download',
};

function afterError(
  before: OrderBefore,
  call: OrderCallName,
  error: Problem | NoAnswer,
): OrderAfter {
  const { status, uid, now, replaces } = before;
  const { accountIsValid, limits } = before.memory;
  const { failures = 0, replacesRefused = false } = status;
  const isMissing = isGone(error) || (accountIsValid && isOfAccount(error));
  const notFound = isMissing ? before.memory.notFound + 1 : 0;
  const verdict = judge(error, {
    attempted: ATTEMPTED[call],
    notFound,
    uid,
    accountIsValid,
    failures: failures + 1,
    limits: limits + 1,
    replaces: replaces && !replacesRefused,
  });
  const memory = memoryAfterError(before, call, error, notFound);
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

function memoryAfterError(
  { memory }: OrderBefore,
  call: OrderCallName,
  error: Problem | NoAnswer,
  notFound: number,
): OrderMemory {
  // The account may change after each refusal, so read it before the next one is judged.
  const isRefused = error.kind === 'problem' && error.type === 'unauthorized';
  const accountIsValid = memory.accountIsValid && !isRefused;
  // A reading that fails before a failing call is repeated does not take its place.
  const isReading = call === 'readOrder' || call === 'readAccount';
  const failing = isReading ? (memory.failing ?? call) : call;
  // The server may have done more than its last answer shows, so read its state again.
  return { ...memory, ...UNREAD, notFound, accountIsValid, limits: memory.limits, failing };
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

const NO_CHALLENGE_WAIT = {
  reason: undefined,
  message: undefined,
  nextAttemptAt: undefined,
} as const;

/**
 * Returns the status with the wait of the Challenge that the Order waits for. Without one, removes
 * the wait of an earlier Challenge.
 */
export function showWaitFor(
  status: OrderObjectStatus,
  challenge: ChildChallenge | undefined,
): OrderObjectStatus {
  if (challenge === undefined)
    return status.reason === WAITING_FOR_CHALLENGE ? changed(status, NO_CHALLENGE_WAIT) : status;
  const { metadata, spec, status: of } = challenge;
  const why = `${of.reason ?? ''}: ${of.message ?? ''}`;
  return changed(status, {
    reason: WAITING_FOR_CHALLENGE,
    message: messages.waitsForChallenge(metadata.name, spec.dnsName, why),
    nextAttemptAt: of.nextAttemptAt,
  });
}
