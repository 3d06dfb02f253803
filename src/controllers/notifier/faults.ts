// SPDX-License-Identifier: Apache-2.0
import { formatTime } from '../../api/object/time.ts';
import {
  NOTIFICATIONS_LATE,
  TARGET_FAILING,
  TARGET_GONE,
  type ServingFault,
} from '../../api/serving/report.ts';
import type { NotifiedTarget } from './delivery/target.ts';

/**
 * What the Lease reports, for `countersign check`: each target that does not take what it is told. No request waits for it.
 *
 * @param late - why cursors are not kept, or nobody is told
 */
export function faultsOf(
  targets: readonly Pick<NotifiedTarget, 'name' | 'fault' | 'faultSince' | 'isGone'>[],
  late: string | undefined,
): readonly ServingFault[] {
  const failing = targets.flatMap(({ name, fault, faultSince, isGone }) => {
    if (fault === undefined) return [];
    const message = `target ${name} has taken nothing since ${formatTime(faultSince)}: ${fault}`;
    return [{ reason: isGone ? TARGET_GONE : TARGET_FAILING, message, stops: false }];
  });
  if (late === undefined) return failing;
  const message = `notifications are repeated or late: ${late}`;
  return [{ reason: NOTIFICATIONS_LATE, message, stops: false }, ...failing];
}
