// SPDX-License-Identifier: Apache-2.0
import type { NotIssued } from '../issuing/issuing-ca.ts';
import type { RequestOutcome } from '../loop/outcome.ts';

/** CamelCase reasons of Events, which are metric labels as well. */
const REASONS: Readonly<Record<NotIssued['how'], string>> = {
  retry: 'SignFailed',
  permanent: 'PermanentError',
  issuer: 'IssuerError',
  pending: 'Pending',
};

/**
 * Returns the outcome of a PodCertificateRequest for which a CA returned no certificate: it always
 * waits. The API allows only the three conditions that end a request permanently
 * (ValidatePodCertificateRequestStatusUpdate), and a pod whose request ended never starts. An Event
 * replaces the condition. The API server deletes the request after 15 minutes, and the kubelet
 * creates a new one.
 */
export function outcomeOf(held: NotIssued, now: number): RequestOutcome {
  const reason = REASONS[held.how];
  const waiting: RequestOutcome = {
    outcome: 'waiting',
    reason,
    message: held.message,
    ...laterOf(held, now),
  };
  const event = eventOf(held);
  return event === undefined ? waiting : { ...waiting, event };
}

function laterOf({ how, afterMs = 0 }: NotIssued, now: number): Pick<RequestOutcome, 'again'> {
  if (how === 'retry') return {};
  return { again: how === 'pending' ? { requeueAt: now + afterMs } : 'on-change' };
}

/**
 * Returns an Event if needed. The issuer's own condition reports the issuer's faults. A CA that is
 * still working gets an Event only if it sends a condition.
 */
function eventOf({ how, message, condition }: NotIssued): RequestOutcome['event'] {
  const type = how === 'pending' ? 'Normal' : 'Warning';
  if (condition !== undefined) {
    const reason = condition.reason ?? condition.type;
    return { type, reason, action: 'Issue', note: condition.message ?? message };
  }
  if (how === 'issuer' || how === 'pending') return undefined;
  return { type, reason: REASONS[how], action: 'Issue', note: message };
}
