// SPDX-License-Identifier: Apache-2.0
import {
  isApproved,
  isDenied,
  isFinished,
  withPending,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import { findCondition } from '#api/request/conditions.ts';
import type { RequestOutcome } from '../loop/outcome.ts';

/** Reasons of waits for another CA, which last minutes and have no Event. */
const OF_OTHER_CAS: readonly string[] = ['Pending', 'IssuerError'];

/**
 * Returns the request with a Ready condition that shows why it waits. Returns undefined if there is
 * nothing to write: Ready shows that already, the request is not approved, or the wait is too short
 * for an Event.
 *
 * @param now - milliseconds, by the API server's clock
 */
export function pendingStatus(
  request: CertificateRequest,
  outcome: RequestOutcome,
  now: number,
): CertificateRequest | undefined {
  const { reason, message = '', event } = outcome;
  if (event === undefined && !OF_OTHER_CAS.includes(reason)) return undefined;
  if (isFinished(request) || isDenied(request) || !isApproved(request)) return undefined;
  const shown = withPending(request, `${reason}: ${event?.note ?? message}`, now);
  return textOf(shown, outcome) === textOf(request, outcome) ? undefined : shown;
}

/**
 * Returns the text to compare of Ready. A cause may contain a time or a count that each attempt
 * changes, so numbers count only in the text of rules.
 */
function textOf({ status }: CertificateRequest, { outcome }: RequestOutcome): string {
  const { reason = '', message = '' } = findCondition(status?.conditions, 'Ready') ?? {};
  const text = `${reason} ${message}`;
  return outcome === 'undecided' ? text : text.replaceAll(/\d+(?:\.\d+)?/g, '0');
}
