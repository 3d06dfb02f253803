// SPDX-License-Identifier: Apache-2.0
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import { SignerError, type ErrorCode } from '#base/errors.ts';
import { KubeError } from '#kube/client/kube-error.ts';
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
 * waits for its CA, the API server or the ledger, which it may at any age.
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

/** Errors that are no fault of the request or its CA, as are those of the API server. */
const OUTAGES: ReadonlySet<ErrorCode> = new Set([
  'LEDGER_UNAVAILABLE',
  'NOT_LEADING',
  'SIGNER_CHANGED',
]);

function retriedBecause(result: RequestOutcome | SignerError): string | undefined {
  if (result instanceof KubeError) return undefined;
  if (result instanceof SignerError) {
    const isCounted = result.disposition === 'retry' && !OUTAGES.has(result.code);
    return isCounted ? result.message : undefined;
  }
  return result.outcome === 'undecided' ? (result.message ?? result.reason) : undefined;
}
