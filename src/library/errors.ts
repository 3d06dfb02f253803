// SPDX-License-Identifier: Apache-2.0
/**
 * What `check` and `sign` may throw. Anything else is an ordinary error: tried again with backoff.
 * docs/reference/library.md has the table of what follows from each.
 *
 * Source: the README of cert-manager's issuer-lib, "How it works"; its `controllers/signer` package.
 */

/** A condition as an author writes it; its times are ours. */
export interface ConditionOf {
  /**
   * CamelCase. Not Ready, Approved, Denied, Failed, Issued or InvalidRequest: those are Kubernetes',
   * cert-manager's and ours.
   */
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** CamelCase, for programs. */
  readonly reason: string;
  /** For people. Never a key, a token or another's secret. */
  readonly message: string;
}

/** How another error is wrapped: it stays what it is. */
export interface Wrapping {
  readonly cause?: unknown;
}

/**
 * It can never succeed as it stands. Of `sign`: the request is failed for ever, and only a new one
 * helps. Of `check`: it is not called again until the issuer's spec changes.
 */
export class PermanentError extends Error {
  constructor(message: string, wrapping: Wrapping = {}) {
    super(message, wrapping);
    this.name = 'PermanentError';
  }
}

/**
 * Of `sign`: not this request is at fault but the issuer. The issuer becomes not ready with this
 * message, `check` is called until it passes, and all its requests wait unharmed. With a
 * {@link PermanentError} as its cause the issuer waits until its spec changes.
 */
export class IssuerError extends Error {
  constructor(message: string, wrapping: Wrapping = {}) {
    super(message, wrapping);
    this.name = 'IssuerError';
  }
}

/** Milliseconds after which a pending request is asked for again; as issuer-lib's. */
const DEFAULT_PENDING_MS = 1_000;

/** The CA is at work: `sign` is called again after a while. No age of the request ends that. */
export class PendingError extends Error {
  /** Milliseconds until the next call. */
  readonly afterMs: number;

  constructor(message: string, wrapping: Wrapping & { readonly afterMs?: number } = {}) {
    super(message, wrapping);
    this.name = 'PendingError';
    this.afterMs = wrapping.afterMs ?? DEFAULT_PENDING_MS;
  }
}

/**
 * Keeps a condition on the request, in addition to what its cause means: an ordinary error, or any of
 * the others. The next call of `sign` finds it in `request.conditions`. On a PodCertificateRequest,
 * whose API takes no such condition, it is kept in memory and told as an Event.
 */
export class SetConditionError extends Error {
  readonly condition: ConditionOf;

  /** @param cause - what went wrong; its kind decides what follows */
  constructor(condition: ConditionOf, cause: Error) {
    super(cause.message, { cause });
    this.name = 'SetConditionError';
    this.condition = condition;
  }
}
