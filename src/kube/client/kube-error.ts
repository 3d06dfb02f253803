// SPDX-License-Identifier: Apache-2.0
import { SignerError, type Disposition, type ErrorCode } from '#base/errors.ts';

/** `metav1.StatusCause`. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The part of `metav1.Status` that the client uses. */
export interface Status {
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: {
    readonly causes?: readonly StatusCause[];
    readonly retryAfterSeconds?: number;
  };
}

/** The facts of a {@link KubeError}. */
export interface KubeErrorInit {
  /** The HTTP status, or 0 without a complete response. */
  readonly status: number;
  /** Method and path. */
  readonly what: string;
  readonly body?: Status | undefined;
  /** Milliseconds of the header. Without one, the body's retryAfterSeconds counts. */
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** A response of the API server other than success, or no complete response at all (`status` 0). */
export class KubeError extends SignerError {
  readonly status: number;
  /** `metav1.Status` reason: Conflict, AlreadyExists, Expired, … */
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  /** Retry-After in milliseconds, at most 10 minutes. */
  readonly retryAfter: number | undefined;
  /**
   * Whether the API server may have stored a write with this error: the response was lost, or a hop
   * before etcd timed out. Only a new GET shows it.
   */
  readonly mayHaveLanded: boolean;

  constructor(init: KubeErrorInit) {
    const reason = init.body?.reason ?? '';
    const [code, disposition] = kindOf(init, reason);
    super({ code, disposition, message: messageFor(init, reason), cause: init.cause });
    this.name = 'KubeError';
    this.status = init.status;
    this.reason = reason;
    this.causes = init.body?.details?.causes ?? [];
    this.retryAfter = retryAfterOf(init);
    this.mayHaveLanded = code === 'KUBE_UNAVAILABLE' && init.status !== 408;
  }
}

const KINDS: Readonly<Record<number, readonly [ErrorCode, Disposition]>> = {
  401: ['KUBE_UNAUTHORIZED', 'retry'],
  403: ['KUBE_FORBIDDEN', 'wait'],
  404: ['KUBE_NOT_FOUND', 'retry'],
  408: ['KUBE_UNAVAILABLE', 'retry'],
  409: ['KUBE_CONFLICT', 'retry'],
  410: ['KUBE_GONE', 'retry'],
  422: ['KUBE_INVALID', 'wait'],
  429: ['KUBE_THROTTLED', 'retry'],
};

/**
 * Message of an apply whose object has a value of another type. The API server answers 500
 * (apimachinery, managedfields/internal/structuredmerge.go), and would do so again.
 */
const MISTYPED = /^failed to create typed patch object \(/;

function kindOf(
  { status, body }: KubeErrorInit,
  reason: string,
): readonly [ErrorCode, Disposition] {
  if (MISTYPED.test(body?.message ?? '')) return ['KUBE_INVALID', 'wait'];
  if (status === 409 && reason === 'AlreadyExists') return ['KUBE_ALREADY_EXISTS', 'retry'];
  const unknown: readonly [ErrorCode, Disposition] =
    status === 0 || status >= 500 ? ['KUBE_UNAVAILABLE', 'retry'] : ['KUBE_BAD_REQUEST', 'wait'];
  return KINDS[status] ?? unknown;
}

function messageFor({ status, what, body, cause }: KubeErrorInit, reason: string): string {
  if (status === 0) return `${what}: no response from the API server: ${causeText(cause)}`;
  return `${what}: ${[status, reason].join(' ').trim()}: ${body?.message ?? ''}`;
}

/**
 * Returns the text of an error. A refused connection to several addresses has a code and no
 * message.
 */
function causeText(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
  return cause.message === '' ? code : cause.message;
}

/**
 * The upper limit of Retry-After. Longer values are implausible, and a timer beyond 24 days would
 * fire at once.
 */
const MAX_RETRY_AFTER_MS = 10 * 60_000;

function retryAfterOf({ retryAfter, body }: KubeErrorInit): number | undefined {
  const seconds = body?.details?.retryAfterSeconds;
  const asked = retryAfter ?? (seconds === undefined ? undefined : seconds * 1000);
  return asked === undefined ? undefined : Math.min(asked, MAX_RETRY_AFTER_MS);
}

/**
 * Returns an error that a later read may not have, such as during a rollout of the control plane.
 * Throws every other error again, a 404 included: the object was deleted. For `.catch` of waits.
 */
export function transientError(error: unknown): KubeError {
  const isTransient =
    error instanceof KubeError && error.disposition === 'retry' && error.status !== 404;
  if (isTransient) return error;
  throw error;
}

/**
 * Turns a 404 into undefined, for `.catch`. Throws every other error again (client-go:
 * client.IgnoreNotFound).
 */
export function ignoreNotFound(error: unknown): undefined {
  if (error instanceof KubeError && error.status === 404) return undefined;
  throw error;
}

/**
 * Turns the rejection of a new object into undefined, for `.catch`, if its namespace is being
 * deleted or is gone (apiserver, admission/plugin/namespace/lifecycle). Throws every other error
 * again.
 */
export function ignoreNamespaceGone(error: unknown): undefined {
  const isTerminating =
    error instanceof KubeError &&
    error.status === 403 &&
    error.causes.some(({ reason }) => reason === 'NamespaceTerminating');
  if (!isTerminating) ignoreNotFound(error);
  return undefined;
}

/**
 * Turns a 403 or a 404 into undefined, for `.catch`: the user may not read the object, or there is
 * none. Throws every other error again.
 */
export function ignoreNotReadable(error: unknown): undefined {
  if (error instanceof KubeError && (error.status === 403 || error.status === 404))
    return undefined;
  throw error;
}
