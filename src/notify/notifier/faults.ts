// SPDX-License-Identifier: Apache-2.0
import {
  NOTIFICATIONS_LATE,
  TARGET_FAILING,
  TARGET_GONE,
  type ServingFault,
} from '#api/serving/report.ts';
import type { NotifiedTarget } from './delivery/target.ts';
import * as messages from './messages.ts';

/**
 * Returns the faults for the report in the Lease, which `countersign check` reads: one for each
 * failing target. No request waits for a target.
 * @param late - why cursors are not written or no events are sent
 */
export function faultsOf(
  targets: readonly Pick<NotifiedTarget, 'name' | 'fault' | 'faultSince' | 'isGone'>[],
  late: string | undefined,
): readonly ServingFault[] {
  const failing = targets.flatMap(({ name, fault, faultSince, isGone }) => {
    if (fault === undefined) return [];
    const message = messages.silentTarget(name, faultSince, fault);
    return [{ reason: isGone ? TARGET_GONE : TARGET_FAILING, message, stops: false }];
  });
  if (late === undefined) return failing;
  const message = messages.notificationsLate(late);
  return [{ reason: NOTIFICATIONS_LATE, message, stops: false }, ...failing];
}
