// SPDX-License-Identifier: Apache-2.0
import type { NoAnswer } from '#base/egress/no-answer.ts';

/**
 * Result of a call to an ACME server. A refusal is a value: only the caller knows whether it ends
 * the Order.
 */
export type Answer<T> = Ok<T> | Problem | NoAnswer;

/** The server did what the call requested. */
export interface Ok<T> {
  readonly kind: 'ok';
  readonly value: T;
  /** Milliseconds until the server accepts the next call (Retry-After), if given. */
  readonly retryAfterMs?: number;
}

/** The server refused: a 4xx or 5xx status, with or without a problem document (RFC 8555 §6.7). */
export interface Problem {
  readonly kind: 'problem';
  readonly status: number;
  readonly type: ProblemType;
  /**
   * Text of the server, quoted and cut, without request ids and nonces. Empty if the server gives
   * none.
   */
  readonly detail: string;
  /** Problems with single identifiers (RFC 8555 §6.7.1), the first ten. */
  readonly subproblems: readonly Subproblem[];
  /** Milliseconds until the server accepts the next call (Retry-After), if given. */
  readonly retryAfterMs?: number;
}

/** A problem with one identifier of an order. */
export interface Subproblem {
  readonly type: ProblemType;
  /** Quoted and cut. */
  readonly identifier: string;
  /** Quoted and cut. */
  readonly detail: string;
}

/** Error types of RFC 8555 §6.7, RFC 9773, and the profiles draft, without their prefix. */
export const PROBLEM_TYPES = [
  'accountDoesNotExist',
  'alreadyReplaced',
  'alreadyRevoked',
  'badCSR',
  'badNonce',
  'badPublicKey',
  'badRevocationReason',
  'badSignatureAlgorithm',
  'caa',
  'compound',
  'connection',
  'dns',
  'externalAccountRequired',
  'incorrectResponse',
  'invalidContact',
  'invalidProfile',
  'malformed',
  'orderNotReady',
  'rateLimited',
  'rejectedIdentifier',
  'serverInternal',
  'tls',
  'unauthorized',
  'unsupportedContact',
  'unsupportedIdentifier',
  'userActionRequired',
] as const;

/** `other`: a type outside ACME's. `none`: the answer has no problem document. */
export type ProblemType = (typeof PROBLEM_TYPES)[number] | 'other' | 'none';

/** Changes the value of a successful answer. Returns other answers unchanged. */
export function mapAnswer<T, U>(answer: Answer<T>, change: (value: T) => U): Answer<U> {
  return answer.kind === 'ok' ? { ...answer, value: change(answer.value) } : answer;
}
