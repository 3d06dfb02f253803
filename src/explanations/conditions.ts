// SPDX-License-Identifier: Apache-2.0
import type { Condition } from '../api/request/conditions.ts';
import type { TimelineEntry } from './explanation.ts';

/** `Reason: message`, or what is there of it. */
export function reasonText({ type, reason = type, message = '' }: Condition): string {
  return message === '' ? reason : `${reason}: ${message}`;
}

/** When a condition came to be, and what it says. */
export function conditionMoment(condition: Condition, what: string): TimelineEntry {
  const at = condition.lastTransitionTime ?? condition.lastUpdateTime;
  return at === undefined ? { what } : { at, what };
}

/** Each condition as `Type=Status: Reason: message`. */
export function conditionMoments(conditions: readonly Condition[] = []): readonly TimelineEntry[] {
  return conditions.map((each) =>
    conditionMoment(each, `${each.type}=${each.status}: ${reasonText(each)}`),
  );
}
