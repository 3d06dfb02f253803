// SPDX-License-Identifier: Apache-2.0
import { isAlive, type Pod } from '#api/object/pod.ts';
import { selects, type LabelSelector } from '#api/object/label-selector.ts';
import type { KubeObject } from '#api/object/object.ts';
import type { Client } from '#kube/client/client.ts';
import { PODS } from '#kube/resource/core-v1.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import { worstOf, type Explanation, type Diagnosis } from '../explanation.ts';
import { noted, type PodNote } from '../pods/pod.ts';

/** The fields that are read of a controller of pods. */
export interface PodController extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly selector?: LabelSelector };
}

/** Maximum number of pods of a workload that are explained. The others have the same template. */
const MAX_PODS = 5;

/** Returns the pods that a workload selects, newest first. */
export async function podsOf(client: Client, workload: PodController): Promise<readonly Pod[]> {
  const { metadata, spec } = workload;
  const { selector } = spec;
  if (selector === undefined) return [];
  const found = await listObjects<Pod>(client, PODS, {
    namespace: metadata.namespace,
    keep: (pod) => isAlive(pod) && selects(selector, pod.metadata.labels),
  });
  const born = ({ metadata: { creationTimestamp } }: Pod): string => creationTimestamp;
  return found.toSorted((a, b) => born(b).localeCompare(born(a))).slice(0, MAX_PODS);
}

/**
 * Returns the object that people edit to change a pod: its controller, or the Deployment of its
 * ReplicaSet.
 */
export function controllerOf({ metadata }: Pod): { readonly kind: string; readonly name: string } {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return { kind: 'pod', name: metadata.name };
  const hash = metadata.labels?.['pod-template-hash'];
  if (owner.kind === 'ReplicaSet' && hash !== undefined && owner.name.endsWith(`-${hash}`))
    return { kind: 'deployment', name: owner.name.slice(0, -hash.length - 1) };
  return { kind: owner.kind.toLowerCase(), name: owner.name };
}

/**
 * Explains a workload by its pod with the worst state. Pure.
 *
 * @param pods - the explanations of its pods
 * @param own - notes about the workload itself
 */
export function explainWorkload(
  workload: PodController,
  pods: readonly Explanation[],
  own: readonly PodNote[] = [],
): Diagnosis {
  const { metadata, spec } = workload;
  const timeline = [{ at: metadata.creationTimestamp, what: 'it is created' }];
  const worst = worstOf(pods);
  if (worst === undefined) {
    const { replicas = 1 } = spec;
    const why = replicas === 0 ? 'it is scaled to 0' : 'no pod of it is there';
    const remediation = [
      `kubectl describe ${workload.kind.toLowerCase()} ${metadata.name} -n ${metadata.namespace ?? ''}`,
    ];
    return { timeline, ...noted({ state: 'NotUsed', summary: why, remediation }, own) };
  }
  const next = worst.next === undefined ? {} : { next: worst.next };
  const { state, remediation } = worst;
  const verdict = noted({ state, summary: `${worst.object}: ${worst.summary}`, remediation }, own);
  return { timeline, ...verdict, ...next, parts: pods };
}
