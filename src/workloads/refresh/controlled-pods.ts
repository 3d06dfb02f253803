// SPDX-License-Identifier: Apache-2.0
import type { Pod } from '#api/object/pod.ts';
import type { Workload } from '#api/workload/workload.ts';

/**
 * The label of a ReplicaSet and its pods (apps/v1, DefaultDeploymentUniqueLabelKey). The
 * ReplicaSet's name ends with its value.
 */
const TEMPLATE_HASH = 'pod-template-hash';

/**
 * Reports whether a workload controls a pod that its selector matches, since other pods may have
 * the same labels. The pods of a Deployment belong to a ReplicaSet, which is named after the
 * Deployment and the template.
 */
export function isControlledBy({ metadata }: Pod, { kind, metadata: of }: Workload): boolean {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return false;
  if (kind !== 'Deployment') return owner.uid === of.uid;
  const hash = metadata.labels?.[TEMPLATE_HASH];
  return owner.kind === 'ReplicaSet' && (hash === undefined || owner.name === `${of.name}-${hash}`);
}
