// SPDX-License-Identifier: Apache-2.0
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import type { RequestOutcome } from '../loop/outcome.ts';

/** A request that no rule allows, which fails at a deadline. */
export interface UndecidedRequest {
  /** Reason why no rule allows it. */
  readonly message: string;
  /** Milliseconds, by the API server's clock. */
  readonly deadline: number;
}

/**
 * Returns the deadline of a request that no rule allows. Returns undefined for any other outcome.
 *
 * @param maxAgeMs - maximum age of a request, in milliseconds
 */
export function undecidedUntil(
  { metadata }: CertificateRequest,
  { outcome, reason, message = reason }: RequestOutcome,
  maxAgeMs: number,
): UndecidedRequest | undefined {
  if (outcome !== 'undecided') return undefined;
  return { message, deadline: Date.parse(metadata.creationTimestamp) + maxAgeMs };
}
