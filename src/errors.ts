// SPDX-License-Identifier: Apache-2.0

/**
 * What a controller must do with an object when it catches an error.
 *
 * - `fail`: the object can never succeed; record that and stop.
 * - `retry`: retry with backoff; no action is needed.
 * - `wait`: a person must act (grant a permission, correct a spec); report it and check again later.
 * - `authority`: the CA of the signer is unusable; all its requests wait, and none fails.
 */
export type Disposition = 'fail' | 'retry' | 'wait' | 'authority';

/** Every code has a row in docs/errors.md; test/architecture compares the two. */
export type ErrorCode =
  // Malformed data (src/pki).
  | 'DER_MALFORMED'
  | 'DER_LIMIT'
  | 'PEM_MALFORMED'
  | 'REQUEST_MALFORMED'
  | 'REQUEST_SIGNATURE'
  | 'CERTIFICATE_MALFORMED'
  | 'KEY_MALFORMED'
  | 'KEY_ENCRYPTED'
  | 'KEY_UNSUPPORTED'
  | 'KEY_WEAK'
  | 'NAME_INVALID'
  | 'USAGE_UNKNOWN'
  | 'PATH_INVALID'
  // Invalid configuration (src/api, src/cel, src/issuance).
  | 'SIGNER_NAME_INVALID'
  | 'DURATION_INVALID'
  | 'SPEC_INVALID'
  | 'CEL_INVALID'
  | 'CEL_COST'
  | 'CEL_EVALUATION'
  // Issuing (src/issuance, src/authorities).
  | 'NAME_RESERVED'
  | 'VALIDITY_IMPOSSIBLE'
  | 'CLOCKS_APART'
  | 'LINT_FAILED'
  | 'PREPARED_SPENT'
  | 'CORRESPONDENCE'
  | 'AUTHORITY_MISSING'
  | 'AUTHORITY_INVALID'
  | 'AUTHORITY_EXPIRED'
  | 'REVOCATIONS_UNKNOWN'
  | 'ANCHOR_MISSING'
  | 'ANCHOR_NOT_SERVED'
  // What names of pods are proven by (src/controllers/pcr-issuer).
  | 'POD_NOT_FOUND'
  | 'POD_ADDRESS_UNKNOWN'
  | 'POD_CHANGED'
  | 'SERVICES_NOT_LISTED'
  | 'SERVICE_NOT_FOUND'
  | 'SERVICE_DOES_NOT_SELECT_POD'
  // The API server (src/kube).
  | 'KUBE_CONFIG'
  | 'KUBE_BAD_REQUEST'
  | 'KUBE_UNAUTHORIZED'
  | 'KUBE_FORBIDDEN'
  | 'KUBE_NOT_FOUND'
  | 'KUBE_CONFLICT'
  | 'KUBE_ALREADY_EXISTS'
  | 'KUBE_GONE'
  | 'KUBE_INVALID'
  | 'KUBE_THROTTLED'
  | 'KUBE_UNAVAILABLE'
  | 'NOT_LEADING'
  // The ledger (src/ledger).
  | 'LEDGER_MALFORMED'
  | 'LEDGER_INCONSISTENT'
  | 'LEDGER_CONFLICT'
  | 'LEDGER_REFUSED'
  | 'LEDGER_UNAVAILABLE'
  // The command line (src/cli).
  | 'USAGE';

/** The facts of a {@link SignerError}. */
export interface SignerErrorInit {
  readonly code: ErrorCode;
  readonly disposition: Disposition;
  /** What was wrong, where, and what to do. Never key material. */
  readonly message: string;
  readonly cause?: unknown;
}

/** The only error class: a code for programs, a disposition for controllers, a message for people. */
export class SignerError extends Error {
  readonly code: ErrorCode;
  readonly disposition: Disposition;

  constructor(init: SignerErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = 'SignerError';
    this.code = init.code;
    this.disposition = init.disposition;
  }
}

/** The error for what a person or an installation says that cannot be used: a flag, a value, a file. Exit code 2 in the command line. */
export function usageError(message: string, cause?: unknown): SignerError {
  return new SignerError({ code: 'USAGE', disposition: 'fail', message, cause });
}

/** The message of any thrown value, for log lines and Events. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Returns the value of `run`, or the SignerError that it threw. Rethrows any other error. */
export function attempt<T>(run: () => T): T | SignerError {
  try {
    return run();
  } catch (error) {
    if (error instanceof SignerError) return error;
    throw error;
  }
}
