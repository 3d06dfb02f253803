// SPDX-License-Identifier: Apache-2.0
/**
 * The errors that `check` and `sign` may throw. Any other error is retried with backoff.
 * docs/reference/library.md says what follows from each.
 *
 * Source: the README of cert-manager's issuer-lib, "How it works"; its `controllers/signer` package.
 */

/** A condition that an author sets on a request. Its times are set when it is written. */
export interface ConditionOf {
  /**
   * CamelCase. Ready, Approved, Denied, Failed, Issued and InvalidRequest are reserved for Kubernetes,
   * cert-manager and Countersign; such a condition is dropped.
   */
  readonly type: string;
  /** As in `metav1.Condition`. */
  readonly status: 'True' | 'False' | 'Unknown';
  /** CamelCase, for programs; cut to 128 characters. */
  readonly reason: string;
  /** For people; cut to 1,024 bytes. Never put a key or a token into it. */
  readonly message: string;
}

/** Options of the error classes. */
export interface Wrapping {
  /** The error that led to this one, as of `Error`. */
  readonly cause?: unknown;
}

/**
 * A retry cannot succeed. From `sign`: the request is Failed, which is final; the requester needs a new
 * request. From `check`: it is not called again until the issuer's spec changes.
 */
export class PermanentError extends Error {
  constructor(message: string, wrapping: Wrapping = {}) {
    super(message, wrapping);
    this.name = 'PermanentError';
  }
}

/**
 * From `sign`: the issuer is at fault, not the request. The issuer becomes not ready with this message,
 * `check` is called until it passes, and all requests of the issuer wait. With a {@link PermanentError} as
 * its cause, the issuer waits until its spec changes.
 */
export class IssuerError extends Error {
  constructor(message: string, wrapping: Wrapping = {}) {
    super(message, wrapping);
    this.name = 'IssuerError';
  }
}

/** Milliseconds until `sign` is called again for a pending request; issuer-lib's default. */
const DEFAULT_PENDING_MS = 1_000;

/** The CA is still working: `sign` is called again after a delay, however old the request is. */
export class PendingError extends Error {
  /** Milliseconds until the next call: 1,000 if left out, at least 100, at most a day. */
  readonly afterMs: number;

  constructor(message: string, wrapping: Wrapping & { readonly afterMs?: number } = {}) {
    super(message, wrapping);
    this.name = 'PendingError';
    this.afterMs = wrapping.afterMs ?? DEFAULT_PENDING_MS;
  }
}

/**
 * Sets a condition on the request, in addition to what its cause means: any error, of these classes or not.
 * The next call of `sign` finds it in `request.conditions`. The API of PodCertificateRequests takes no such
 * condition: there it is kept in memory and recorded as an Event.
 */
export class SetConditionError extends Error {
  /** The condition to set. */
  readonly condition: ConditionOf;

  /**
   * @param condition - the condition to set
   * @param cause - what went wrong; its class decides what follows
   */
  constructor(condition: ConditionOf, cause: Error) {
    super(cause.message, { cause });
    this.name = 'SetConditionError';
    this.condition = condition;
  }
}
