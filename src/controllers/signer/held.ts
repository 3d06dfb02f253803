// SPDX-License-Identifier: Apache-2.0
import { setCondition, findCondition } from '../../api/conditions.ts';
import { withFailed, type CertificateSigningRequest } from '../../api/csr.ts';
import { formatTime } from '../../api/time.ts';
import type { Held } from '../../serving/issuing.ts';
import type { Outcome } from '../../serving/outcome.ts';

export interface AfterHeld {
  /** The object for PUT /status, where anything is to be written. */
  readonly write: CertificateSigningRequest | undefined;
  /** Whether that write ends the request for ever. */
  readonly ends: boolean;
  readonly outcome: Outcome;
}

export interface Times {
  /** The API server's, which dates requests. Milliseconds. */
  readonly now: number;
  /** How far our own clock, by which is waited, is ahead of it. */
  readonly ahead: number;
  /** Since its creation; undefined: no request is ever given up. Milliseconds. */
  readonly maxRetryMs: number | undefined;
}

/**
 * What becomes of a CertificateSigningRequest that a CA gave no certificate for. Its condition is
 * stored in the same write that ends it, where one does.
 */
export function afterHeld(csr: CertificateSigningRequest, held: Held, times: Times): AfterHeld {
  const kept = withHeldCondition(csr, held, times.now);
  const deadline =
    times.maxRetryMs === undefined
      ? Infinity
      : Date.parse(csr.metadata.creationTimestamp) + times.maxRetryMs;
  const late = held.how === 'retry' && times.now >= deadline;
  if (held.how === 'permanent' || late) {
    const reason = late ? 'RetriesExhausted' : 'PermanentError';
    const { message } = held;
    return {
      write: withFailed(kept, { reason, message }, times.now),
      ends: true,
      outcome: { outcome: 'failed', reason, message, event: warning(reason, message) },
    };
  }
  return {
    write: kept === csr ? undefined : kept,
    ends: false,
    outcome: waiting(held, deadline + times.ahead, times.now + times.ahead),
  };
}

function waiting({ how, message, afterMs = 0 }: Held, deadline: number, now: number): Outcome {
  switch (how) {
    case 'pending':
      return { outcome: 'waiting', reason: 'Pending', message, again: { at: now + afterMs } };
    case 'issuer':
      return { outcome: 'waiting', reason: 'IssuerError', message, again: 'on-change' };
    case 'retry':
    case 'permanent':
      return {
        outcome: 'waiting',
        reason: 'SignFailed',
        message,
        again: { backoffUntil: deadline },
        event: warning('SignFailed', message),
      };
  }
}

/** The same object where it already says so. */
function withHeldCondition(
  csr: CertificateSigningRequest,
  { condition }: Held,
  now: number,
): CertificateSigningRequest {
  if (condition === undefined) return csr;
  const before = findCondition(csr.status?.conditions, condition.type);
  const same =
    before?.status === condition.status &&
    before.reason === condition.reason &&
    before.message === condition.message;
  if (same) return csr;
  const time = formatTime(now);
  const next = { ...condition, lastTransitionTime: time, lastUpdateTime: time };
  return {
    ...csr,
    status: { ...csr.status, conditions: setCondition(csr.status?.conditions, next) },
  };
}

function warning(reason: string, note: string): NonNullable<Outcome['event']> {
  return { type: 'Warning', reason, action: 'Sign', note };
}
