// SPDX-License-Identifier: Apache-2.0
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import { SignerError } from '#base/errors.ts';
import type { RequestOutcome } from '../loop/outcome.ts';

/** A request without a certificate that is retried until a deadline. */
export interface RetriedRequest {
  /** Reason why it has no certificate. */
  readonly message: string;
  /** Milliseconds, by the API server's clock. */
  readonly deadline: number;
}

/**
 * Returns the deadline of a request that fails by age. Returns undefined if it has an answer, or
 * waits for its CA, which it may at any age.
 *
 * @param maxAgeMs - maximum age of a request, in milliseconds
 */
export function retriedUntil(
  { metadata }: CertificateRequest,
  result: RequestOutcome | SignerError,
  maxAgeMs: number,
): RetriedRequest | undefined {
  const message = retriedBecause(result);
  if (message === undefined) return undefined;
  return { message, deadline: Date.parse(metadata.creationTimestamp) + maxAgeMs };
}

function retriedBecause(result: RequestOutcome | SignerError): string | undefined {
  if (result instanceof SignerError)
    return result.disposition === 'retry' ? result.message : undefined;
  return result.outcome === 'undecided' ? (result.message ?? result.reason) : undefined;
}
