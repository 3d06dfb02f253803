// SPDX-License-Identifier: Apache-2.0
import type { Pod } from '#api/object/pod.ts';
import { parseTime } from '#api/object/time.ts';

/**
 * Maximum time for the kubelet to rewrite the files of a volume: a sync period and its cache
 * lifetime (a minute each), and a margin.
 */
export const KUBELET_LAG_MS = 3 * 60_000;

/**
 * Returns when each running container of a pod was started, in milliseconds since the epoch.
 * Sidecars are running init containers.
 */
export function startsOf({ status = {} }: Pod): readonly number[] {
  const { containerStatuses = [], initContainerStatuses = [] } = status;
  return [...containerStatuses, ...initContainerStatuses].flatMap(({ state }) => {
    const start = parseTime(state?.running?.startedAt ?? '');
    return Number.isNaN(start) ? [] : [start];
  });
}
