// SPDX-License-Identifier: Apache-2.0
import { findCondition, setCondition, type Condition } from '#api/request/conditions.ts';
import { formatTime } from '#api/object/time.ts';
import { serverTime, type Clocks } from '#component/server-time.ts';
import type { NotIssued } from './issuing-ca.ts';
import type { RequestOutcome } from '../loop/outcome.ts';
import type { ConditionedObject } from '../loop/change-predicate.ts';

/** The result for a request that gets no leaf now. */
export interface Settlement<T> {
  /** The object for PUT /status, or undefined if there is nothing to write. */
  readonly write: T | undefined;
  /** True if that write is the request's final answer. */
  readonly ends: boolean;
  readonly outcome: RequestOutcome;
}

/** The time at which a CA returned no chain. */
export interface Times {
  /** Milliseconds by the API server's clock, which dates requests. */
  readonly now: number;
  /** Milliseconds that our own clock, which runs the timers, is ahead of the API server's. */
  readonly ahead: number;
  /**
   * Milliseconds after its creation at which the request fails, or undefined if it never fails by
   * age.
   */
  readonly maxRetryMs: number | undefined;
}

/** Returns the present time for {@link settleByConditions}. */
export function timesOf(component: Clocks, maxRetryMs: number | undefined): Times {
  return { now: serverTime(component), ahead: component.client.clockOffset(), maxRetryMs };
}

/** Writes the conditions of a kind of requests. */
export interface ConditionWriter<T> {
  /** Returns the object for PUT /status that fails a request. */
  readonly withFailed: (
    request: T,
    failure: { readonly reason: string; readonly message: string },
    now: number,
  ) => T;
  /** Returns the times of a condition of such a request. */
  readonly dated: (time: string) => Pick<Condition, 'lastUpdateTime'> & {
    readonly lastTransitionTime: string;
  };
}

/**
 * Returns the result for a request whose kind has conditions. A write that ends the request also
 * stores the CA's own condition.
 */
export function settleByConditions<T extends ConditionedObject>(
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
    const failure = {
      reason: late ? 'RetriesExhausted' : 'PermanentError',
      message: held.message,
    };
    return failed(writer.withFailed(kept, failure, times.now), failure);
  }
  return {
    write: kept === request ? undefined : kept,
    ends: false,
    outcome: waiting(held, deadline + times.ahead, times.now + times.ahead),
  };
}

/**
 * Ends the request as Failed with one write and a Warning.
 *
 * @param write - the object for PUT /status
 */
export function failed<T>(
  write: T,
  { reason, message }: { readonly reason: string; readonly message: string },
): Settlement<T> {
  const event = warning(reason, message);
  return { write, ends: true, outcome: { outcome: 'failed', reason, message, event } };
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
function withHeldCondition<T extends ConditionedObject>(
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
