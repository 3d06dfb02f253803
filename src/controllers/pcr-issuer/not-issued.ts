// SPDX-License-Identifier: Apache-2.0
import type { NotIssued } from '../../runtime/issuing/issuing-ca.ts';
import type { RequestOutcome } from '../../runtime/requests/outcome.ts';

/** CamelCase; they become reasons of Events and labels of metrics. */
const REASONS: Readonly<Record<NotIssued['how'], string>> = {
  retry: 'SignFailed',
  permanent: 'PermanentError',
  issuer: 'IssuerError',
  pending: 'Pending',
};

/**
 * What becomes of a PodCertificateRequest that a CA gave no certificate for: it waits, whatever the
 * CA says. The API takes no condition but the three that end it for ever
 * (ValidatePodCertificateRequestStatusUpdate), and a pod whose request ended never starts. An Event
 * tells what a condition would; the API server removes the request after a quarter of an hour, and the
 * kubelet asks anew.
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

/** Of the issuer's trouble its own condition tells; a CA at work is no news unless it says so. */
function eventOf({ how, message, condition }: NotIssued): RequestOutcome['event'] {
  const type = how === 'pending' ? 'Normal' : 'Warning';
  if (condition !== undefined) {
    const reason = condition.reason ?? condition.type;
    return { type, reason, action: 'Issue', note: condition.message ?? message };
  }
  if (how === 'issuer' || how === 'pending') return undefined;
  return { type, reason: REASONS[how], action: 'Issue', note: message };
}
