// SPDX-License-Identifier: Apache-2.0
import { buildCertManager } from '../../test/certmanager/build.ts';
import { applyCrds } from '../../test/certmanager/crds.ts';
import {
  applyIdentities,
  identity,
  NAMESPACE as CERT_MANAGER,
} from '../../test/certmanager/manifests.ts';
import type { Cluster } from '../../test/cluster/cluster.ts';
import { apply } from '../../test/support/cluster/apply.ts';
import { buildTrustManager } from '../../test/trust-manager/build.ts';
import { installTrustManager, TRUST_NAMESPACE } from '../../test/trust-manager/start.ts';
import type { Program } from '../cluster/contender.ts';
import { TOKEN_DURATION } from '../cluster/ours.ts';

/** Projects whose processes are measured beside ours. */
export const PEERS = ['cert-manager', 'trust-manager'] as const;
export type Peer = (typeof PEERS)[number];

const INJECTOR = 'cert-manager-cainjector';

/** Of cert-manager's chart: templates/cainjector-rbac.yaml, without the Leases. */
const INJECTOR_RULES = [
  { apiGroups: ['cert-manager.io'], resources: ['certificates'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['events'], verbs: ['get', 'create', 'update', 'patch'] },
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
    verbs: ['get', 'list', 'watch', 'update', 'patch'],
  },
  {
    apiGroups: ['apiregistration.k8s.io'],
    resources: ['apiservices'],
    verbs: ['get', 'list', 'watch', 'update', 'patch'],
  },
  {
    apiGroups: ['apiextensions.k8s.io'],
    resources: ['customresourcedefinitions'],
    verbs: ['get', 'list', 'watch', 'update', 'patch'],
  },
];

/** Installs peers, and returns their processes: cert-manager's three, and trust-manager. */
export async function installPeers(
  cluster: Cluster,
  peers: readonly Peer[],
): Promise<readonly Program[]> {
  const programs = await Promise.all([
    peers.includes('cert-manager') ? certManager(cluster) : [],
    peers.includes('trust-manager') ? trustManager(cluster) : [],
  ]);
  return programs.flat();
}

async function certManager(cluster: Cluster): Promise<readonly Program[]> {
  await applyCrds(cluster);
  const program = await buildCertManager(console.log);
  await applyIdentities(cluster);
  await apply(cluster, ...identity(INJECTOR, INJECTOR_RULES));
  const kubeconfigOf = (account: string): Promise<string> =>
    cluster.serviceAccountKubeconfig(CERT_MANAGER, account, { duration: TOKEN_DURATION });
  const injector = await kubeconfigOf(INJECTOR);
  return [
    {
      name: 'cert-manager',
      command: [program, 'controllers', `--kubeconfig=${await kubeconfigOf('cert-manager')}`],
    },
    {
      name: 'cert-manager-webhook',
      command: [program, 'webhook', `--kubeconfig=${await kubeconfigOf('cert-manager-webhook')}`],
    },
    { name: INJECTOR, command: ['env', `KUBECONFIG=${injector}`, program, 'cainjector-pod'] },
  ];
}

async function trustManager(cluster: Cluster): Promise<readonly Program[]> {
  const program = await buildTrustManager(console.log);
  await installTrustManager(cluster);
  const options = { duration: TOKEN_DURATION };
  const kubeconfig = await cluster.serviceAccountKubeconfig(
    TRUST_NAMESPACE,
    'trust-manager',
    options,
  );
  return [{ name: 'trust-manager', command: [program, kubeconfig, TRUST_NAMESPACE] }];
}
