// SPDX-License-Identifier: Apache-2.0

/**
 * What the loop that catches an error must do with the object it was working on.
 *
 * - `fail`: this object can never succeed as it stands; record that and stop.
 * - `retry`: try again with backoff; nobody needs to do anything.
 * - `wait`: somebody must do something (grant a right, mend a spec); say so and look again.
 * - `authority`: the CA behind the signer is unusable; every request of it waits unharmed.
 */
export type Disposition = 'fail' | 'retry' | 'wait' | 'authority';

/** Every code has its row in docs/errors.md; test/architecture holds the two together. */
export type ErrorCode =
  // Bytes that are not what they claim to be (src/pki).
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
  // What a user wrote (src/api, src/cel, src/issuance).
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
  | 'ANCHOR_MISSING'
  | 'ANCHOR_NOT_SERVED'
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

/** The one error class: a literal code for programs, a disposition for the loop, words for people. */
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

/** The message of anything thrown, for log lines and Events. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The value of `run`, or the SignerError that it threw; anything else is thrown on. */
export function attempt<T>(run: () => T): T | SignerError {
  try {
    return run();
  } catch (error) {
    if (error instanceof SignerError) return error;
    throw error;
  }
}
