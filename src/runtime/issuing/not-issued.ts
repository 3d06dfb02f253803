// SPDX-License-Identifier: Apache-2.0
import { findCondition, setCondition, type Condition } from '../../api/request/conditions.ts';
import { formatTime } from '../../api/object/time.ts';
import type { NotIssued } from './issuing-ca.ts';
import type { RequestOutcome } from '../requests/outcome.ts';
import type { Conditioned } from '../requests/change-predicate.ts';

/** The result for a request that gets no leaf now. */
export interface Settlement<T> {
  /** The object for PUT /status; undefined if there is nothing to write. */
  readonly write: T | undefined;
  /** Whether that write is the request's final answer. */
  readonly ends: boolean;
  readonly outcome: RequestOutcome;
}

/** The request stays as it is: no write, and no report. */
export const NOTHING = {
  kind: 'settle',
  write: undefined,
  ends: false,
  outcome: { outcome: 'ignored', reason: '' },
} as const;

/** The time at which a CA returned no chain. */
export interface Times {
  /** By the API server's clock, which dates requests. Milliseconds. */
  readonly now: number;
  /** How far our own clock, which runs the timers, is ahead of the API server's. */
  readonly ahead: number;
  /**
   * Time since its creation after which the request fails; undefined: it never fails by age. Milliseconds.
   */
  readonly maxRetryMs: number | undefined;
}

/** How a kind of requests writes conditions. */
export interface ConditionWriter<T> {
  /** The object for PUT /status that ends a request. */
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
 * The result for a request whose kind has conditions. If the same write ends the request, that write also
 * stores the CA's own condition.
 */
export function settleByConditions<T extends Conditioned>(
  request: T,
  held: NotIssued,
  times: Times,
  writer: ConditionWriter<T>,
): Settlement<T> {
  const kept = withHeldCondition(request, held, writer.dated(formatTime(times.now)));
  const deadline =
    times.maxRetryMs === undefined
      ? Infinity
      : Date.parse(request.metadata.creationTimestamp) + times.maxRetryMs;
  const late = held.how === 'retry' && times.now >= deadline;
  if (held.how === 'permanent' || late) {
    const reason = late ? 'RetriesExhausted' : 'PermanentError';
    return failed(kept, { reason, message: held.message }, writer, times.now);
  }
  return {
    write: kept === request ? undefined : kept,
    ends: false,
    outcome: waiting(held, deadline + times.ahead, times.now + times.ahead),
  };
}

/** The request ends as Failed: one write, and a Warning. `now` by the API server's clock. */
export function failed<T>(
  request: T,
  { reason, message }: { readonly reason: string; readonly message: string },
  { withFailed }: Pick<ConditionWriter<T>, 'withFailed'>,
  now: number,
): Settlement<T> {
  return {
    write: withFailed(request, { reason, message }, now),
    ends: true,
    outcome: { outcome: 'failed', reason, message, event: warning(reason, message) },
  };
}

function waiting(
  { how, message, afterMs = 0 }: NotIssued,
  deadline: number,
  now: number,
): RequestOutcome {
  switch (how) {
    case 'pending':
      return {
        outcome: 'waiting',
        reason: 'Pending',
        message,
        again: { requeueAt: now + afterMs },
      };
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

/** Returns the same object if it already has the condition. */
function withHeldCondition<T extends Conditioned>(
  request: T,
  { condition }: NotIssued,
  dates: ReturnType<ConditionWriter<T>['dated']>,
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

function warning(reason: string, note: string): NonNullable<RequestOutcome['event']> {
  return { type: 'Warning', reason, action: 'Sign', note };
}
