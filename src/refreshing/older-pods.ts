// SPDX-License-Identifier: Apache-2.0
import { selects } from '../api/object/label-selector.ts';
import { isAlive, type Pod } from '../api/object/pod.ts';
import { parseTime } from '../api/object/time.ts';
import type { DisruptionBudget } from '../api/workload/disruption-budget.ts';
import type { CurrentLeaf } from './leaf.ts';
import type { CredentialUse } from './used-credentials.ts';

/** The kubelet rewrites the files of a Secret within a sync period and the life of its cache (a minute each), and some. */
const KUBELET_LAG_MS = 3 * 60_000;

/** Whether the pod runs with a certificate that is older than this one. */
export function holdsOlder(
  pod: Pod,
  leaf: CurrentLeaf,
  { untilPodEnds }: CredentialUse = { untilPodEnds: false },
): boolean {
  // No kubelet has it yet: it mounts what there is then.
  const accepted = parseTime(pod.status?.startTime ?? '');
  if (!isAlive(pod) || Number.isNaN(accepted)) return false;
  if (leaf.pods !== undefined) return accepted < (leaf.pods.get(pod.metadata.uid) ?? -Infinity);
  return accepted < leaf.writtenBy && hasOlderContainers(startsOf(pod), leaf, untilPodEnds);
}

function hasOlderContainers(
  starts: readonly number[],
  leaf: CurrentLeaf,
  untilPodEnds: boolean,
): boolean {
  if (leaf.isFirst) return starts.some((start) => start < leaf.issuedAt);
  if (untilPodEnds || starts.length === 0) return true;
  return starts.some((start) => start < leaf.writtenBy + KUBELET_LAG_MS);
}

/** When each container that runs was started. */
function startsOf({ status }: Pod): readonly number[] {
  return (status?.containerStatuses ?? []).flatMap(({ state }) => {
    const start = parseTime(state?.running?.startedAt ?? '');
    return Number.isNaN(start) ? [] : [start];
  });
}

/**
 * A PodDisruptionBudget that selects one of the pods and allows none of them to go now. One whose status is older than its
 * spec allows nothing, as with evictions (kubernetes, pkg/registry/core/pod/storage/eviction.go).
 *
 * @param budgets - those of the namespace of the pods
 */
export function blockingBudget(
  pods: readonly Pod[],
  budgets: readonly DisruptionBudget[],
): DisruptionBudget | undefined {
  return budgets.find(({ metadata, spec, status = {} }) => {
    const { disruptionsAllowed = 0, observedGeneration = 0 } = status;
    const isOpen = disruptionsAllowed > 0 && observedGeneration >= (metadata.generation ?? 0);
    const { selector } = spec ?? {};
    if (isOpen || selector === undefined) return false;
    return pods.some((pod) => isAlive(pod) && selects(selector, pod.metadata.labels));
  });
}
