// SPDX-License-Identifier: Apache-2.0
import type { Condition } from '#api/request/conditions.ts';
import type { TimelineEntry } from './explanation.ts';

/** Returns `Reason: message`, or the reason alone. */
export function reasonText({ type, reason = type, message = '' }: Condition): string {
  return message === '' ? reason : `${reason}: ${message}`;
}

/** Returns the timeline entry of a condition. */
export function conditionMoment(condition: Condition, what: string): TimelineEntry {
  const at = condition.lastTransitionTime ?? condition.lastUpdateTime;
  return at === undefined ? { what } : { at, what };
}

/** Returns a timeline entry for each condition, as `Type=Status: Reason`. */
export function conditionReasons(conditions: readonly Condition[] = []): readonly TimelineEntry[] {
  return conditionMoments(conditions.map((each) => ({ ...each, message: '' })));
}

/** Returns a timeline entry for each condition, as `Type=Status: Reason: message`. */
export function conditionMoments(conditions: readonly Condition[] = []): readonly TimelineEntry[] {
  return conditions.map((each) =>
    conditionMoment(each, `${each.type}=${each.status}: ${reasonText(each)}`),
  );
}
