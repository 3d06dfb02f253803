// SPDX-License-Identifier: Apache-2.0
/**
 * What came of a call to an ACME server. A refusal is a value, as everywhere here: whether it ends an Order is decided
 * by whoever called, who knows what was asked before.
 */
export type Answer<T> = Ok<T> | Problem | NoAnswer;

/** The server did what was asked. */
export interface Ok<T> {
  readonly kind: 'ok';
  readonly value: T;
  /** Milliseconds until the server wants to be asked again (Retry-After), if it says so. */
  readonly retryAfterMs?: number;
}

/** The server refused: a status of 4xx or 5xx, with or without a problem document (RFC 8555 §6.7). */
export interface Problem {
  readonly kind: 'problem';
  readonly status: number;
  readonly type: ProblemType;
  /** The server's words: quoted, cut, without the ids of requests and nonces. Empty where it has none. */
  readonly detail: string;
  /** What it says of single identifiers (RFC 8555 §6.7.1), the first ten. */
  readonly subproblems: readonly Subproblem[];
  /** Milliseconds until it may be asked again, if the server says so. */
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

/** No answer arrived, or one that no ACME server sends. */
export interface NoAnswer {
  readonly kind: 'transport';
  readonly cause: TransportCause;
  /** What happened, for people; the words of others in it are quoted and cut. */
  readonly detail: string;
  /**
   * Whether the server may have done what was asked: before a call that is not idempotent (newOrder, a roll-over) is
   * repeated, the server's state must be read.
   */
  readonly mayHaveArrived: boolean;
}

/**
 * - `unreachable`: no connection, or TLS failed
 * - `timeout`: no answer in time
 * - `aborted`: the caller's signal
 * - `cut-off`: the connection ended within the answer, or before it
 * - `too-long`: the answer is longer than any that ACME needs
 * - `redirect`: the server sends elsewhere, where we do not go
 * - `unusable`: no JSON, or not of the shape that RFC 8555 gives it
 * - `foreign-url`: a URL in an answer leads to another origin than the directory's
 * - `no-nonce`: the server gives no nonce
 * - `no-key-change`: the server has no key change (RFC 8555 §7.3.5); nothing was called
 */
export type TransportCause =
  | 'unreachable'
  | 'timeout'
  | 'aborted'
  | 'cut-off'
  | 'too-long'
  | 'redirect'
  | 'unusable'
  | 'foreign-url'
  | 'no-nonce'
  | 'no-key-change';

/** Error types of RFC 8555 §6.7, of RFC 9773 and of the profiles' draft, without their prefix. */
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

/** `other`: a type that is none of ACME's; `none`: the answer has no problem document. */
export type ProblemType = (typeof PROBLEM_TYPES)[number] | 'other' | 'none';

/** An answer with its value changed; other answers are passed on. */
export function mapAnswer<T, U>(answer: Answer<T>, change: (value: T) => U): Answer<U> {
  return answer.kind === 'ok' ? { ...answer, value: change(answer.value) } : answer;
}

/** An answer that no ACME server sends; the call itself was answered. */
export function unusable(detail: string, cause: TransportCause = 'unusable'): NoAnswer {
  return { kind: 'transport', cause, detail, mayHaveArrived: true };
}
