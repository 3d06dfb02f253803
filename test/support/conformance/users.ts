// SPDX-License-Identifier: Apache-2.0
/** Users with few permissions, who run the conformance runner. */
import type { Cluster } from '../../cluster/cluster.ts';
import { NAMESPACE } from './cluster-signers.ts';
import { apply } from '../cluster/apply.ts';

export interface Grant {
  readonly verbs: readonly string[];
  /** Default: certificates.k8s.io. */
  readonly apiGroups?: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

/**
 * A ServiceAccount that may this in the whole cluster, and nothing else. @returns its kubeconfig
 */
export async function userWith(
  cluster: Cluster,
  name: string,
  grants: readonly Grant[],
): Promise<string> {
  const group = 'rbac.authorization.k8s.io';
  const rbac = { apiVersion: `${group}/v1`, metadata: { name: `conformance-${name}` } };
  const rules = grants.map((each) => ({ apiGroups: ['certificates.k8s.io'], ...each }));
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name: rbac.metadata.name };
  const subjects = [{ kind: 'ServiceAccount', namespace: NAMESPACE, name }];
  const items = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: NAMESPACE, name } },
    { ...rbac, kind: 'ClusterRole', rules },
    { ...rbac, kind: 'ClusterRoleBinding', roleRef, subjects },
  ];
  await apply(cluster, ...items);
  return cluster.serviceAccountKubeconfig(NAMESPACE, name);
}
