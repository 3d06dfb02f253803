// SPDX-License-Identifier: Apache-2.0
/**
 * Errors that `check` and `sign` may throw. Any other error is retried with backoff.
 * docs/reference/library.md has the result of each.
 *
 * Source: the README of cert-manager's issuer-lib, "How it works", and its `requests/signer`
 * package.
 */

/** A condition that an author sets on a request. Its times are set when it is written. */
export interface ConditionOf {
  /**
   * CamelCase. Ready, Approved, Denied, Failed, Issued, and InvalidRequest are reserved for
   * Kubernetes, cert-manager, and Countersign. Such a condition is dropped.
   */
  readonly type: string;
  /** Status, as in `metav1.Condition`. A condition with another is dropped. */
  readonly status: 'True' | 'False' | 'Unknown';
  /** CamelCase, for programs. Cut to 128 characters. */
  readonly reason: string;
  /** Message, for people. Cut to 1,024 bytes. Never put a key or a token into it. */
  readonly message: string;
}

/** Options of the error classes. */
export interface SigningErrorOptions {
  /** Cause of this error, as in `Error`. */
  readonly cause?: unknown;
}

/**
 * Error that no retry can fix. From `sign`: the request is Failed, which is final, and the
 * requester needs a new request. From `check`: it is not called again until the issuer's spec
 * changes.
 */
export class PermanentError extends Error {
  constructor(message: string, options: SigningErrorOptions = {}) {
    super(message, options);
    this.name = 'PermanentError';
  }
}

/**
 * Error of the issuer. From `sign`: the issuer is at fault, not the request. The issuer becomes not
 * ready with this message, `check` is called until it passes, and all requests of the issuer wait.
 * With a {@link PermanentError} as its cause, the issuer waits until its spec changes.
 */
export class IssuerError extends Error {
  constructor(message: string, options: SigningErrorOptions = {}) {
    super(message, options);
    this.name = 'IssuerError';
  }
}

/**
 * Milliseconds until `sign` is called again for a pending request. This is issuer-lib's default.
 */
const DEFAULT_PENDING_MS = 1_000;

/**
 * The CA is still working. `sign` is called again after a delay, whatever the age of the request.
 */
export class PendingError extends Error {
  /** Milliseconds until the next call. Default: 1,000. At least 100, at most a day. */
  readonly afterMs: number;

  constructor(message: string, options: SigningErrorOptions & { readonly afterMs?: number } = {}) {
    super(message, options);
    this.name = 'PendingError';
    this.afterMs = options.afterMs ?? DEFAULT_PENDING_MS;
  }
}

/**
 * Sets a condition on the request, in addition to the effect of its cause, which may be any error.
 * The next call of `sign` finds it in `request.conditions`. The API of PodCertificateRequests
 * accepts no such condition, so it stays in memory and becomes an Event.
 */
export class SetConditionError extends Error {
  /** The condition to set. */
  readonly condition: ConditionOf;

  /**
   * @param condition - the condition to set
   * @param cause - the error, whose class decides what follows
   */
  constructor(condition: ConditionOf, cause: Error) {
    super(cause.message, { cause });
    this.name = 'SetConditionError';
    this.condition = condition;
  }
}
