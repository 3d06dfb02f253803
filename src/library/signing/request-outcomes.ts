// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '#base/bounded-map.ts';
import type { ClassifiedError } from '../calls/classify-error.ts';
import type { ConditionOf } from '../errors.ts';

/**
 * Outcomes of earlier calls of `sign` that the request's object cannot store, by its UID. In memory
 * only.
 */
export interface RequestOutcomes {
  /** Returns the error after which `sign` is not called again for this request. */
  readonly permanentFailure: (uid: string) => ClassifiedError | undefined;
  /** Returns conditions that the kind of the request does not accept, the newest of each type. */
  readonly conditions: (uid: string) => readonly ConditionOf[];
  readonly record: (uid: string, error: ClassifiedError) => void;
  readonly forget: (uid: string) => void;
}

/**
 * Limit on conditions. An author may derive condition types from a CA's answers, which would add
 * one at each call.
 */
const MAX_CONDITIONS = 8;
/**
 * Limit on requests. Each takes up to two KiB, mostly 500 bytes. An evicted request is signed, or
 * fails, once more.
 */
const MAX_REQUESTS = 20_000;

interface Outcome {
  readonly permanentFailure: ClassifiedError | undefined;
  readonly conditions: ReadonlyMap<string, ConditionOf>;
}

const NO_OUTCOME: Outcome = { permanentFailure: undefined, conditions: new Map() };

/**
 * Creates an empty memory of outcomes. It evicts the oldest of {@link MAX_REQUESTS} requests first.
 */
export function createRequestOutcomes(): RequestOutcomes {
  const outcomes = new BoundedMap<string, Outcome>(MAX_REQUESTS);

  function record(uid: string, error: ClassifiedError): void {
    const { how, condition } = error;
    if (how !== 'permanent' && condition === undefined) return;
    const { permanentFailure, conditions } = outcomes.get(uid) ?? NO_OUTCOME;
    outcomes.set(uid, {
      permanentFailure: how === 'permanent' ? error : permanentFailure,
      conditions:
        condition === undefined ? conditions : newest([...conditions, [condition.type, condition]]),
    });
  }

  return {
    permanentFailure: (uid) => outcomes.get(uid)?.permanentFailure,
    conditions: (uid) => [...(outcomes.get(uid)?.conditions.values() ?? [])],
    record,
    forget: (uid) => {
      outcomes.delete(uid);
    },
  };
}

function newest(
  all: readonly (readonly [type: string, condition: ConditionOf])[],
): ReadonlyMap<string, ConditionOf> {
  return new Map([...new Map(all)].slice(-MAX_CONDITIONS));
}
