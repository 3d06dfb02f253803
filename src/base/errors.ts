// SPDX-License-Identifier: Apache-2.0

/**
 * Action of a controller for an object after an error.
 *
 * - `fail`: the object can never succeed. Record that and stop.
 * - `retry`: retry with backoff. No action is needed.
 * - `wait`: a person must act (grant a permission, correct a spec). Report it and check again
 *   later.
 * - `authority`: the CA of the signer is unusable. All its requests wait, and none fails.
 */
export type Disposition = 'fail' | 'retry' | 'wait' | 'authority';

/**
 * Codes of errors. Every code has a row in docs/errors.md, and test/architecture compares the two.
 */
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
  // Invalid configuration (src/api, src/cel, src/ca/issuance).
  | 'SIGNER_NAME_INVALID'
  | 'DURATION_INVALID'
  | 'SPEC_INVALID'
  | 'CEL_INVALID'
  | 'CEL_COST'
  | 'CEL_EVALUATION'
  // Issuing (src/ca/issuance, src/ca/custody).
  | 'NAME_RESERVED'
  | 'VALIDITY_IMPOSSIBLE'
  | 'CLOCKS_APART'
  | 'LINT_FAILED'
  | 'PREPARED_SPENT'
  | 'CORRESPONDENCE'
  | 'AUTHORITY_MISSING'
  | 'AUTHORITY_INVALID'
  | 'AUTHORITY_EXPIRED'
  | 'KEY_HOLDER_UNAVAILABLE'
  | 'KEY_HOLDER_TOKEN_UNAVAILABLE'
  | 'KEY_HOLDER_REFUSED'
  | 'REVOCATIONS_UNKNOWN'
  | 'SIGNER_CHANGED'
  | 'ANCHOR_MISSING'
  | 'ANCHOR_NOT_SERVED'
  // Names of pods (src/requests/pcr-issuer).
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

/** Fields of a {@link SignerError}. */
export interface SignerErrorInit {
  readonly code: ErrorCode;
  readonly disposition: Disposition;
  /** Cause, place, and fix. Never key material. */
  readonly message: string;
  /** Next command for the user, which the command line prints. */
  readonly next?: string;
  readonly cause?: unknown;
}

/**
 * The class of every error that a controller or a person acts on: a code for programs, a
 * disposition for controllers, a message for people. Errors of one room that its own code catches
 * have classes of their own.
 */
export class SignerError extends Error {
  readonly code: ErrorCode;
  readonly disposition: Disposition;
  readonly next: string | undefined;

  constructor(init: SignerErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = 'SignerError';
    this.code = init.code;
    this.disposition = init.disposition;
    this.next = init.next;
  }
}

/**
 * Returns the error for an unusable flag, value, or file of a person or an installation. The
 * command line exits with code 2.
 */
export function usageError(message: string, cause?: unknown): SignerError {
  return new SignerError({ code: 'USAGE', disposition: 'fail', message, cause });
}

/** Returns the message of any thrown value, for log lines and Events. */
export function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return fileFault(thrown) ?? thrown.message;
}

/** Causes of the system calls that open files (errno(3)). */
const FILE_CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this process has no permission',
  EPERM: 'this process has no permission',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of the path is not a directory',
  EEXIST: 'it exists',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** Returns the message of an error of Node about a file, with the code that operators know. */
function fileFault(error: NodeJS.ErrnoException): string | undefined {
  const { code = '', path, syscall } = error;
  const cause = FILE_CAUSES[code];
  if (cause === undefined || path === undefined || syscall !== 'open') return undefined;
  return `cannot open ${path}: ${cause} (${code})`;
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
