// SPDX-License-Identifier: Apache-2.0
import type { Cluster } from '../../test/cluster/cluster.ts';
import { TOKEN_DURATION } from './ours.ts';

export interface Peer {
  readonly name: string;
  readonly signerName: string;
}

const PEERS_NAMESPACE = 'bench-peers';

/**
 * A ServiceAccount that may do what ours may, and write the bundles that upstream's signer writes
 * itself: the API server has the same to authorize for everyone.
 *
 * @returns the path of its kubeconfig
 */
export async function createPeer(cluster: Cluster, peer: Peer): Promise<string> {
  const name = `bench-${peer.name}`;
  const list = { apiVersion: 'v1', kind: 'List', items: objectsOf(name, peer.signerName) };
  await cluster.kubectl(['apply', '-f', '-'], { input: JSON.stringify(list) });
  return cluster.serviceAccountKubeconfig(PEERS_NAMESPACE, name, { duration: TOKEN_DURATION });
}

function objectsOf(name: string, signerName: string): readonly object[] {
  const apiGroups = ['certificates.k8s.io'];
  const rbac = 'rbac.authorization.k8s.io';
  const rules = [
    { resources: ['podcertificaterequests'], verbs: ['get', 'list', 'watch'] },
    { resources: ['podcertificaterequests/status'], verbs: ['update'] },
    { resources: ['clustertrustbundles'], verbs: ['get', 'create', 'update', 'delete'] },
    { resources: ['signers'], resourceNames: [signerName], verbs: ['sign', 'attest'] },
  ];
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: PEERS_NAMESPACE } },
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace: PEERS_NAMESPACE, name },
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name },
      rules: rules.map((rule) => ({ apiGroups, ...rule })),
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', namespace: PEERS_NAMESPACE, name }],
    },
  ];
}
