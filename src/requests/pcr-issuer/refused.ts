// SPDX-License-Identifier: Apache-2.0
import {
  withDenied,
  withFailed,
  type PodCertificateRequest,
} from '#api/request/pod-certificate-request.ts';
import { formatDuration } from '#api/object/duration.ts';
import type { RequestOutcome } from '../loop/outcome.ts';
import type { PodPlan } from './plan.ts';
import * as messages from './messages.ts';

/** A request that ends without a certificate, and its report. */
export interface RefusedRequest {
  /** The object for PUT /status. */
  readonly answered: PodCertificateRequest;
  readonly outcome: RequestOutcome;
}

/**
 * Ends a request without a certificate.
 *
 * @param now - milliseconds, by the API server's clock
 * @param expiresAt - milliseconds: end of the certificate that this would have renewed
 */
export function refused(
  request: PodCertificateRequest,
  plan: Extract<PodPlan, { kind: 'deny' | 'fail' }>,
  now: number,
  expiresAt: number | undefined,
): RefusedRequest {
  const { reason, message } = plan;
  // The kubelet treats a Denied or Failed request as permanent (podcertificatemanager.go).
  const note = messages.refused(message, lossText(expiresAt, now));
  const event = { type: 'Warning', reason, action: 'Issue', note } as const;
  const [outcome, answered] =
    plan.kind === 'deny'
      ? (['denied', withDenied(request, plan, now)] as const)
      : (['failed', withFailed(request, plan, now)] as const);
  return { answered, outcome: { outcome, reason, message, event } };
}

/** Returns when the pod's certificate expires after a rejected renewal. */
function lossText(expiresAt: number | undefined, now: number): string {
  if (expiresAt === undefined) return '';
  const left = formatDuration(Math.floor((expiresAt - now) / 1000));
  return messages.lostRenewal(left, expiresAt);
}
