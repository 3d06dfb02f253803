// SPDX-License-Identifier: Apache-2.0
import type { Cluster } from '../../cluster/cluster.ts';

/** `kubectl apply` of one object, or of several as a List. */
export function apply(cluster: Cluster, ...objects: readonly object[]): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  return applyText(cluster, JSON.stringify(objects.length === 1 ? objects[0] : list));
}

/** `kubectl apply` of manifests as text, JSON or YAML. */
export async function applyText(cluster: Cluster, input: string): Promise<void> {
  await cluster.kubectl(['apply', '-f', '-'], { input });
}
