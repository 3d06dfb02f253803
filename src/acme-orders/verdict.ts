// SPDX-License-Identifier: Apache-2.0
import type { NoAnswer, Problem, ProblemType } from '../acme/answer.ts';
import { callBackOff, limitBackOff } from './back-off.ts';
import { UNAUTHORIZED } from './record.ts';

/** What was called, as far as it changes what an error means. */
export type Attempted = 'newOrder' | 'read' | 'challenge' | 'finalize' | 'download';

/**
 * What an error means for the Order.
 *
 * - `fail`: the server confirms what no retry can heal; the request ends.
 * - `again`: the same call later.
 * - `newOrder`: the server's order is of no use any more; the request gets another one, by and by.
 * - `withoutReplaces`: the same call at once, without the certificate that it replaces.
 * - `signer`: nothing of this account can succeed until somebody corrects the signer; all its requests wait.
 * - `account`: the account must be read before this can be judged.
 */
export type ErrorVerdict =
  | { readonly verdict: 'fail' | 'newOrder'; readonly reason: string; readonly message: string }
  | {
      readonly verdict: 'again' | 'signer' | 'account';
      readonly reason: string;
      readonly message: string;
      /** Milliseconds from now. */
      readonly afterMs: number;
      /** Whether every call of the account waits as long. */
      readonly wholeAccount: boolean;
    }
  | { readonly verdict: 'withoutReplaces' };

/** What is known beside the error. */
export interface Circumstances {
  readonly attempted: Attempted;
  /** Failures in a row, this one included. */
  readonly failures: number;
  /** How many of these said that there is no such resource. */
  readonly notFound: number;
  /** Spreads the waits of objects. */
  readonly uid: string;
  /** Whether the call named a certificate that it replaces. */
  readonly replaces: boolean;
  /** Whether the account was read since, and is valid. */
  readonly accountIsValid: boolean;
}

/** The request itself is at fault, and the CA says so (RFC 8555 §6.7). */
const HOPELESS: ReadonlySet<ProblemType> = new Set([
  'badCSR',
  'badPublicKey',
  'rejectedIdentifier',
  'unsupportedIdentifier',
]);

/** The signer's settings or its account are at fault. */
const OF_THE_SIGNER: ReadonlySet<ProblemType> = new Set([
  'accountDoesNotExist',
  'badSignatureAlgorithm',
  'externalAccountRequired',
  'invalidContact',
  'invalidProfile',
  'unsupportedContact',
  'userActionRequired',
]);

/** A server that knows nothing of replacement, or refuses this one, is asked once without it (RFC 9773 §5). */
const PERHAPS_OF_REPLACES: ReadonlySet<ProblemType> = new Set([
  'alreadyReplaced',
  'malformed',
  'unauthorized',
  'other',
  'none',
]);

/** Replicas that lag answer 404 for what another one has just made. */
const MOST_NOT_FOUND = 3;

/** Judges a refusal or a missing answer. Pure: the same error in the same circumstances has the same verdict. */
export function judge(error: Problem | NoAnswer, circumstances: Circumstances): ErrorVerdict {
  const { failures, uid } = circumstances;
  if (error.kind === 'transport') {
    const message = `the ACME server gave no answer: ${error.detail}`;
    return again('NoAnswer', message, callBackOff(failures, uid));
  }
  return isLimit(error)
    ? limited(error, circumstances)
    : (ofRequest(error, circumstances) ?? ofOrder(error, circumstances));
}

/** RFC 8555 §6.6; a server may ask for patience with 503, too (RFC 9110 §15.6.4). */
function isLimit({ status, type, retryAfterMs }: Problem): boolean {
  return status === 429 || type === 'rateLimited' || (status >= 500 && retryAfterMs !== undefined);
}

function limited(problem: Problem, { failures, uid }: Circumstances): ErrorVerdict {
  const afterMs = problem.retryAfterMs ?? limitBackOff(failures, uid);
  const message = `the ACME server limits its calls: ${said(problem)}`;
  return { verdict: 'again', reason: 'RateLimited', message, afterMs, wholeAccount: true };
}

/** What can be said whatever was called. */
function ofRequest(problem: Problem, circumstances: Circumstances): ErrorVerdict | undefined {
  const { type } = problem;
  if (HOPELESS.has(type) || (type === 'compound' && hasHopelessPart(problem)))
    return { verdict: 'fail', reason: reasonOf(type), message: refused(problem) };
  if (OF_THE_SIGNER.has(type)) {
    const { failures, uid } = circumstances;
    const afterMs = problem.retryAfterMs ?? limitBackOff(failures, uid);
    return { ...waits('signer', reasonOf(type), refused(problem), afterMs), wholeAccount: true };
  }
  if (isPerhapsOfReplaces(problem, circumstances)) return { verdict: 'withoutReplaces' };
  return type === 'unauthorized' ? ofUnauthorized(problem, circumstances) : undefined;
}

function isPerhapsOfReplaces(
  { status, type }: Problem,
  { attempted, replaces }: Circumstances,
): boolean {
  return attempted === 'newOrder' && replaces && status < 500 && PERHAPS_OF_REPLACES.has(type);
}

/** A deactivated account is refused in the same words as a name that the CA does not issue for. */
function ofUnauthorized(problem: Problem, circumstances: Circumstances): ErrorVerdict | undefined {
  const { attempted, failures, uid, accountIsValid } = circumstances;
  if (!accountIsValid)
    return waits('account', UNAUTHORIZED, refused(problem), callBackOff(failures, uid));
  return attempted === 'newOrder' || attempted === 'finalize'
    ? { verdict: 'fail', reason: UNAUTHORIZED, message: refused(problem) }
    : undefined;
}

function ofOrder(problem: Problem, circumstances: Circumstances): ErrorVerdict {
  const { attempted, failures, notFound, uid } = circumstances;
  const { status, type, retryAfterMs } = problem;
  const afterMs = retryAfterMs ?? callBackOff(failures, uid);
  if (status >= 500 || type === 'badNonce')
    return again('ServerError', `the ACME server failed: ${said(problem)}`, afterMs);
  // A 4xx of what the server made before: it is gone, or was never ours.
  if (attempted !== 'newOrder' && isGone(problem) && notFound > MOST_NOT_FOUND)
    return { verdict: 'newOrder', reason: 'OrderGone', message: refused(problem) };
  return again(reasonOf(type), refused(problem), afterMs);
}

/** A resource that is not there; some servers call it malformed. */
export function isGone({ status, type }: Problem): boolean {
  return status === 404 || type === 'malformed';
}

function hasHopelessPart({ subproblems }: Problem): boolean {
  return subproblems.some(({ type }) => HOPELESS.has(type));
}

function again(reason: string, message: string, afterMs: number): ErrorVerdict {
  return waits('again', reason, message, afterMs);
}

function waits(
  verdict: 'again' | 'signer' | 'account',
  reason: string,
  message: string,
  afterMs: number,
): Extract<ErrorVerdict, { afterMs: number }> {
  return { verdict, reason, message, afterMs, wholeAccount: false };
}

function refused(problem: Problem): string {
  return `the ACME server refused: ${said(problem)}`;
}

function said({ status, type, detail, subproblems }: Problem): string {
  const parts = subproblems.slice(0, 3).map((each) => `; ${each.identifier}: ${each.detail}`);
  const name = type === 'none' || type === 'other' ? '' : ` ${type}`;
  return `${status}${name}${detail === '' ? '' : ` ${detail}`}${parts.join('')}`;
}

/** `rejectedIdentifier` becomes `RejectedIdentifier`; what has no type of ACME is `Refused`. */
function reasonOf(type: ProblemType): string {
  if (type === 'none' || type === 'other') return 'Refused';
  return `${type.charAt(0).toUpperCase()}${type.slice(1)}`;
}
