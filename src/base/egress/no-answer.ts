// SPDX-License-Identifier: Apache-2.0
/** A missing answer, or one that violates the protocol. */
export interface NoAnswer {
  readonly kind: 'transport';
  readonly cause: TransportCause;
  /** Cause, for people. Text of others is quoted and cut. */
  readonly detail: string;
  /**
   * Whether the server may have processed the call. Before a repetition of a call that is not
   * idempotent (newOrder of ACME, a roll-over), the caller must read the server's state.
   */
  readonly mayHaveArrived: boolean;
  /** Status of an answer that is too long. */
  readonly answeredStatus?: number;
}

/**
 * - `unreachable`: no connection, or TLS failed
 * - `timeout`: no answer in time
 * - `aborted`: the caller's signal
 * - `cut-off`: the connection ended within the answer, or before it
 * - `too-long`: the answer is longer than the caller allows
 * - `redirect`: the server redirects, and redirects are not followed
 * - `unusable`: not JSON, or not in the shape of the protocol
 * - `foreign-url`: a URL in an answer has another origin than the directory
 * - `no-nonce`: the server gives no nonce
 * - `no-key-change`: the server has no key change (RFC 8555 §7.3.5), and no call was made
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

/** Returns the result for an answer that violates the protocol. The server did answer the call. */
export function unusable(detail: string, cause: TransportCause = 'unusable'): NoAnswer {
  return { kind: 'transport', cause, detail, mayHaveArrived: true };
}
