// SPDX-License-Identifier: Apache-2.0
import { SignerError, type Disposition, type ErrorCode } from '../errors.ts';

/** `metav1.StatusCause`. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The part of `metav1.Status` that we use. */
export interface Status {
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: {
    readonly causes?: readonly StatusCause[];
    readonly retryAfterSeconds?: number;
  };
}

/** An answer of the API server other than success, or none at all (`status` 0). */
export class KubeError extends SignerError {
  readonly status: number;
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  /** Milliseconds, from Retry-After. */
  readonly retryAfter: number | undefined;

  constructor(init: {
    readonly status: number;
    readonly what: string;
    readonly body?: Status | undefined;
    readonly retryAfter?: number | undefined;
    readonly cause?: unknown;
  }) {
    const [code, disposition] = kindOf(init.status, init.body?.reason);
    const said = init.body?.message ?? (init.cause instanceof Error ? init.cause.message : '');
    super({ code, disposition, message: `${init.what}: ${said}`, cause: init.cause });
    this.name = 'KubeError';
    this.status = init.status;
    this.reason = init.body?.reason ?? '';
    this.causes = init.body?.details?.causes ?? [];
    this.retryAfter = init.retryAfter;
  }
}

const KINDS: Readonly<Record<number, readonly [ErrorCode, Disposition]>> = {
  400: ['KUBE_BAD_REQUEST', 'wait'],
  401: ['KUBE_UNAUTHORIZED', 'retry'],
  403: ['KUBE_FORBIDDEN', 'wait'],
  404: ['KUBE_NOT_FOUND', 'retry'],
  409: ['KUBE_CONFLICT', 'retry'],
  410: ['KUBE_GONE', 'retry'],
  422: ['KUBE_INVALID', 'wait'],
  429: ['KUBE_THROTTLED', 'retry'],
};

function kindOf(status: number, reason: string | undefined): readonly [ErrorCode, Disposition] {
  if (status === 409 && reason === 'AlreadyExists') return ['KUBE_ALREADY_EXISTS', 'retry'];
  return KINDS[status] ?? ['KUBE_UNAVAILABLE', 'retry'];
}
