// SPDX-License-Identifier: Apache-2.0
import { selects } from '#api/object/label-selector.ts';
import { isAlive, type Pod } from '#api/object/pod.ts';
import { parseTime } from '#api/object/time.ts';
import type { DisruptionBudget } from '#api/workload/disruption-budget.ts';
import { KUBELET_LAG_MS, startsOf } from './credentials/container-starts.ts';
import type { CurrentLeaf } from './credentials/leaf.ts';
import type { CredentialUse } from './credentials/used-credentials.ts';

/** Maximum offset between the clocks of two API servers, with the delay of a kubelet's watch. */
const API_CLOCKS_MS = 2_000;

/** Reports whether the pod runs with an older certificate than this one. */
export function holdsOlder(
  pod: Pod,
  leaf: CurrentLeaf,
  { untilPodEnds }: CredentialUse = { untilPodEnds: false },
): boolean {
  // No kubelet has accepted the pod, so it will mount the current certificate.
  const accepted = parseTime(pod.status?.startTime ?? '');
  if (!isAlive(pod) || Number.isNaN(accepted)) return false;
  if (leaf.pods !== undefined) return leaf.pods.has(pod.metadata.uid);
  const created = parseTime(pod.metadata.creationTimestamp);
  if (leaf.storedAt !== undefined && created > leaf.storedAt + API_CLOCKS_MS) return false;
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

/**
 * Returns the PodDisruptionBudgets that select one of the pods.
 *
 * @param budgets - those of the namespace of the pods
 */
export function selectingBudgets(
  pods: readonly Pod[],
  budgets: readonly DisruptionBudget[],
): readonly DisruptionBudget[] {
  return budgets.filter(({ spec: { selector } = {} }) => {
    if (selector === undefined) return false;
    return pods.some((pod) => isAlive(pod) && selects(selector, pod.metadata.labels));
  });
}

/**
 * Reports whether the budget allows no disruption now. One whose status is older than its spec
 * allows none, as with evictions (kubernetes, pkg/registry/core/pod/storage/eviction.go).
 */
export function isExhausted({ metadata, status = {} }: DisruptionBudget): boolean {
  const { disruptionsAllowed = 0, observedGeneration = 0 } = status;
  return disruptionsAllowed <= 0 || observedGeneration < (metadata.generation ?? 0);
}
