// SPDX-License-Identifier: Apache-2.0
import type { Problem, ProblemType } from '../protocol/answer.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import { callBackOff, limitBackOff, limitFloor } from './back-off.ts';
import { requestedWait } from './poll-intervals.ts';
import { timeText, UNAUTHORIZED } from './status.ts';
import * as messages from './messages.ts';

/** Kind of a call, as far as it changes the meaning of an error. */
export type AcmeCallKind =
  'newOrder' | 'readAccount' | 'read' | 'challenge' | 'finalize' | 'download';

/**
 * Meaning of an error for the Order.
 *
 * - `fail`: the server confirms a fault that no retry can fix. The request ends.
 * - `again`: repeat the call later.
 * - `newOrder`: the server's order is useless. The request gets another one after a wait.
 * - `withoutReplaces`: repeat the call at once, without the certificate that it replaces.
 * - `signer`: nothing of this account can succeed until an administrator corrects the signer. All
 *   its requests wait.
 * - `account`: read the account before judging.
 */
export type ErrorVerdict =
  | { readonly verdict: 'fail' | 'newOrder'; readonly reason: string; readonly message: string }
  | {
      readonly verdict: 'again' | 'signer' | 'account';
      readonly reason: string;
      readonly message: string;
      /** Milliseconds from now. */
      readonly afterMs: number;
      /** What waits beside the object: every call of the account, or its new orders. */
      readonly pauses?: 'account' | 'orders';
      readonly counts: RetryCounter;
    }
  | { readonly verdict: 'withoutReplaces' };

/**
 * Counter that an answer raises: failures, or limits without or with a duration that the server
 * requests. A limit does not count as a failure.
 */
export type RetryCounter = 'failure' | 'limit' | 'requestedLimit';

/** Circumstances of the error. */
export interface Circumstances {
  readonly attempted: AcmeCallKind;
  /** Consecutive failures including this one. */
  readonly failures: number;
  /** Consecutive limits including this one. */
  readonly limits: number;
  /** Consecutive answers, including this one, that the account has no such resource. */
  readonly notFound: number;
  /** Spreads the waits of objects. */
  readonly uid: string;
  /** Whether the call named a certificate that it replaces. */
  readonly replaces: boolean;
  /** Whether the account was read since, and is valid. */
  readonly accountIsValid: boolean;
}

/** Types by which the CA reports a fault of the request itself (RFC 8555 §6.7). */
const HOPELESS: ReadonlySet<ProblemType> = new Set([
  'badCSR',
  'badPublicKey',
  'rejectedIdentifier',
  'unsupportedIdentifier',
]);

/** Types of a fault in the signer's settings or its account. */
const OF_THE_SIGNER: ReadonlySet<ProblemType> = new Set([
  'badSignatureAlgorithm',
  'externalAccountRequired',
  'invalidContact',
  'invalidProfile',
  'unsupportedContact',
  'userActionRequired',
]);

/**
 * Types of a server that does not know replacement, or refuses this one. The call is repeated once
 * without it (RFC 9773 §5).
 */
const PERHAPS_OF_REPLACES: ReadonlySet<ProblemType> = new Set([
  'alreadyReplaced',
  'malformed',
  'unauthorized',
  'other',
  'none',
]);

/** Reason of an Order that the server no longer has for this account. */
export const ORDER_GONE = 'OrderGone';

/** Limit of 404 answers. Lagging replicas answer 404 for what another has just created. */
const MAX_NOT_FOUND = 3;

/**
 * Judges a refusal or a missing answer. Pure: equal errors in equal circumstances get equal
 * verdicts.
 */
export function judge(error: Problem | NoAnswer, circumstances: Circumstances): ErrorVerdict {
  const { failures, uid } = circumstances;
  if (error.kind === 'transport') {
    const message = messages.noAnswer(error.detail);
    return again('NoAnswer', message, callBackOff(failures, uid));
  }
  return isLimit(error)
    ? limited(error, circumstances)
    : (ofType(error, circumstances) ?? ofStatus(error, circumstances));
}

/**
 * Reports whether the answer is a rate limit (RFC 8555 §6.6). A server may also request a wait with
 * 503 (RFC 9110 §15.6.4).
 */
function isLimit(problem: Problem): boolean {
  const { status, retryAfterMs } = problem;
  return isRateLimit(problem) || (status >= 500 && retryAfterMs !== undefined);
}

function isRateLimit({ status, type }: Problem): boolean {
  return status === 429 || type === 'rateLimited';
}

function limited(problem: Problem, circumstances: Circumstances): ErrorVerdict {
  const message = messages.rateLimited(said(problem));
  const wait = limitOf(problem, circumstances);
  const pauses = isLimitOfOrders(problem, circumstances) ? 'orders' : 'account';
  return { verdict: 'again', reason: 'RateLimited', message, ...wait, pauses };
}

/**
 * Reports whether the limit may concern the names of the order alone. Let's Encrypt limits the
 * certificates of equal names and the failed validations of a name by the same type.
 */
function isLimitOfOrders(problem: Problem, { attempted }: Circumstances): boolean {
  return isRateLimit(problem) && (attempted === 'newOrder' || attempted === 'finalize');
}

/**
 * Returns the server's wait, or one of our own, that grows with the limits alone. A server may
 * request the same second indefinitely, so repeated limits grow a floor of its wait too.
 */
function limitOf(
  problem: Problem,
  { limits, uid }: Circumstances,
): { readonly afterMs: number; readonly counts: RetryCounter } {
  const retryAfterMs = waitOf(problem);
  const afterMs =
    retryAfterMs === undefined
      ? limitBackOff(limits, uid)
      : Math.max(retryAfterMs, limitFloor(limits));
  return { afterMs, counts: retryAfterMs === undefined ? 'limit' : 'requestedLimit' };
}

/**
 * Returns the wait that the server requests, in milliseconds: as long as a rate limit takes, or an
 * hour at most. Undefined without one.
 */
export function waitOf(problem: Problem): number | undefined {
  const { retryAfterMs } = problem;
  return isRateLimit(problem) ? retryAfterMs : requestedWait(retryAfterMs);
}

/** Judges by the type of the problem, as far as it decides. */
function ofType(problem: Problem, circumstances: Circumstances): ErrorVerdict | undefined {
  const { type } = problem;
  if (HOPELESS.has(type) || (type === 'compound' && hasHopelessPart(problem)))
    return { verdict: 'fail', reason: reasonOf(type), message: refused(problem) };
  if (OF_THE_SIGNER.has(type) || isNoAccount(problem, circumstances)) {
    const wait = limitOf(problem, circumstances);
    const message = refused(problem);
    return { verdict: 'signer', reason: reasonOf(type), message, ...wait, pauses: 'account' };
  }
  if (isPerhapsOfReplaces(problem, circumstances)) return { verdict: 'withoutReplaces' };
  return isOfAccount(problem) ? ofUnauthorized(problem, circumstances) : undefined;
}

/**
 * Reports whether the server does not know the account. It may answer so to a call for an order of
 * another account.
 */
function isNoAccount({ type }: Problem, { attempted }: Circumstances): boolean {
  const isOfNoOrder = attempted === 'newOrder' || attempted === 'readAccount';
  return type === 'accountDoesNotExist' && isOfNoOrder;
}

/** Reports whether the account or the object may be the cause of a refusal. */
export function isOfAccount(error: Problem | NoAnswer): boolean {
  if (error.kind !== 'problem') return false;
  return error.type === 'unauthorized' || error.type === 'accountDoesNotExist';
}

function isPerhapsOfReplaces(
  { status, type }: Problem,
  { attempted, replaces }: Circumstances,
): boolean {
  return attempted === 'newOrder' && replaces && status < 500 && PERHAPS_OF_REPLACES.has(type);
}

/**
 * Judges a refusal of the account or the object. A server refuses a deactivated account with the
 * same type as a name that the CA does not issue for.
 */
function ofUnauthorized(problem: Problem, circumstances: Circumstances): ErrorVerdict | undefined {
  const { attempted, failures, uid, accountIsValid } = circumstances;
  if (!accountIsValid)
    return waits('account', UNAUTHORIZED, refused(problem), callBackOff(failures, uid));
  const mayBeOfNames = attempted === 'newOrder' || attempted === 'finalize';
  return problem.type === 'unauthorized' && mayBeOfNames
    ? { verdict: 'fail', reason: UNAUTHORIZED, message: refused(problem) }
    : undefined;
}

/** Judges by the status what the type left open. */
function ofStatus(problem: Problem, circumstances: Circumstances): ErrorVerdict {
  const { attempted, failures, notFound, uid } = circumstances;
  const { status, type } = problem;
  // Unlike that of a limit, this Retry-After may lengthen the back-off and not shorten it.
  const afterMs = Math.max(waitOf(problem) ?? 0, callBackOff(failures, uid));
  if (status >= 500 || type === 'badNonce')
    return again('ServerError', messages.serverFailed(said(problem)), afterMs);
  // A 4xx for a resource that the server created before: it is gone, or was never ours.
  if (attempted !== 'newOrder' && notFound > MAX_NOT_FOUND)
    return { verdict: 'newOrder', reason: ORDER_GONE, message: refused(problem) };
  return again(reasonOf(type), refused(problem), afterMs);
}

/** Reports whether a resource is missing. Some servers report it as malformed. */
export function isGone(error: Problem | NoAnswer): boolean {
  return error.kind === 'problem' && (error.status === 404 || error.type === 'malformed');
}

/** Effects of an answer on all Orders and Challenges of an account. */
export interface AccountNews {
  /** Time until which every call of the account waits, if the server limits it. */
  readonly accountUntil?: number;
  /** Time until which the server limits this new order or certificate, and perhaps others. */
  readonly orderLimitUntil?: number;
  /** Reason that the whole signer waits, if the server refused its account or settings. */
  readonly signerProblem?: string;
}

/** Wait after an error: changes of the status, the count of limits, news for the account. */
export interface WaitAfterError {
  readonly changes: {
    readonly reason: string;
    readonly message: string;
    readonly failures: number | undefined;
    readonly nextAttemptAt: string;
  };
  readonly limits: number;
  readonly news: AccountNews;
}

/** @param before - consecutive failures and limits without this error */
export function waitAfter(
  wait: Extract<ErrorVerdict, { readonly afterMs: number }>,
  before: { readonly failures: number; readonly limits: number },
  now: number,
): WaitAfterError {
  const { verdict, reason, message, pauses, counts } = wait;
  const { failures, limits } = before;
  const counted = counts === 'failure' ? failures + 1 : failures;
  const until = now + wait.afterMs;
  return {
    changes: {
      reason,
      message,
      failures: counted === 0 ? undefined : counted,
      nextAttemptAt: timeText(until),
    },
    limits: counts === 'failure' ? limits : limits + 1,
    news: {
      ...(pauses === 'account' ? { accountUntil: until } : {}),
      ...(pauses === 'orders' ? { orderLimitUntil: until } : {}),
      ...(verdict === 'signer' ? { signerProblem: message } : {}),
    },
  };
}

function hasHopelessPart({ subproblems }: Problem): boolean {
  return subproblems.some(({ type }) => HOPELESS.has(type));
}

function again(reason: string, message: string, afterMs: number): ErrorVerdict {
  return waits('again', reason, message, afterMs);
}

function waits(
  verdict: 'again' | 'account',
  reason: string,
  message: string,
  afterMs: number,
): Extract<ErrorVerdict, { afterMs: number }> {
  return { verdict, reason, message, afterMs, counts: 'failure' };
}

function refused(problem: Problem): string {
  return messages.serverRefused(said(problem));
}

function said({ status, type, detail, subproblems }: Problem): string {
  const parts = subproblems
    .slice(0, 3)
    .map((each) => messages.identifierFault(each.identifier, each.detail));
  const name = type === 'none' || type === 'other' ? '' : ` ${type}`;
  return `${status}${name}${detail === '' ? '' : ` ${detail}`}${parts.join('')}`;
}

/** Returns `RejectedIdentifier` for `rejectedIdentifier`. Types outside ACME become `Refused`. */
function reasonOf(type: ProblemType): string {
  if (type === 'none' || type === 'other') return 'Refused';
  return `${type.charAt(0).toUpperCase()}${type.slice(1)}`;
}
