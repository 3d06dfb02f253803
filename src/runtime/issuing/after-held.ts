// SPDX-License-Identifier: Apache-2.0
import { findCondition, setCondition, type Condition } from '../../api/request/conditions.ts';
import { formatTime } from '../../api/object/time.ts';
import type { Held } from './issuing.ts';
import type { Outcome } from '../requests/outcome.ts';
import type { Conditioned } from '../requests/triggers.ts';

/** What becomes of a request that a CA gave no certificate for. */
export interface AfterHeld<T> {
  /** The object for PUT /status, where anything is to be written. */
  readonly write: T | undefined;
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

/** How a kind of requests says it. */
export interface HeldWords<T> {
  /** The object for PUT /status that ends a request for ever. */
  readonly withFailed: (
    request: T,
    failure: { readonly reason: string; readonly message: string },
    now: number,
  ) => T;
  /** The times of a condition of such a request. */
  readonly dated: (time: string) => Pick<Condition, 'lastUpdateTime'> & {
    readonly lastTransitionTime: string;
  };
}

/**
 * What becomes of a request whose kind takes conditions. The CA's own condition is stored in the same
 * write that ends it, where one does.
 */
export function afterHeld<T extends Conditioned>(
  request: T,
  held: Held,
  times: Times,
  words: HeldWords<T>,
): AfterHeld<T> {
  const kept = withHeldCondition(request, held, words.dated(formatTime(times.now)));
  const deadline =
    times.maxRetryMs === undefined
      ? Infinity
      : Date.parse(request.metadata.creationTimestamp) + times.maxRetryMs;
  const late = held.how === 'retry' && times.now >= deadline;
  if (held.how === 'permanent' || late) {
    const reason = late ? 'RetriesExhausted' : 'PermanentError';
    const { message } = held;
    return {
      write: words.withFailed(kept, { reason, message }, times.now),
      ends: true,
      outcome: { outcome: 'failed', reason, message, event: warning(reason, message) },
    };
  }
  return {
    write: kept === request ? undefined : kept,
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
function withHeldCondition<T extends Conditioned>(
  request: T,
  { condition }: Held,
  dates: ReturnType<HeldWords<T>['dated']>,
): T {
  if (condition === undefined) return request;
  const before = findCondition(request.status?.conditions, condition.type);
  const same =
    before?.status === condition.status &&
    before.reason === condition.reason &&
    before.message === condition.message;
  if (same) return request;
  const conditions = setCondition(request.status?.conditions, { ...condition, ...dates });
  return { ...request, status: { ...request.status, conditions } };
}

function warning(reason: string, note: string): NonNullable<Outcome['event']> {
  return { type: 'Warning', reason, action: 'Sign', note };
}
