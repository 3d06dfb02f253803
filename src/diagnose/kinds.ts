// SPDX-License-Identifier: Apache-2.0
/** The kinds of objects that people name before a slash, as in `pod/web`. */
import {
  ACME_CLUSTER_SIGNERS,
  ACME_GROUP,
  ACME_SIGNERS,
  CHALLENGES,
  ORDERS,
} from '#api/acme/names.ts';
import { CERTIFICATE_REQUEST_RESOURCE } from '#api/request/certificate-request.ts';
import { CSR_RESOURCE } from '#api/request/csr.ts';
import { GROUP } from '#api/signer/cluster-signer.ts';
import { keysOf } from '#base/object-keys.ts';
import { certificatesResources } from '#component/certificates-resources.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';
import { EXTERNAL_SIGNERS } from '#component/signers/external-signers.ts';
import type { Client } from '#kube/client/client.ts';
import { CONFIG_MAPS, PODS, SECRETS } from '#kube/resource/core-v1.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';

interface NamedKind {
  /** The other names that commands accept, which are those of kubectl. */
  readonly aliases: readonly string[];
  readonly description: string;
  readonly isNamespaced: boolean;
  readonly resource: (client: Client) => Resource | Promise<Resource>;
}

/** Returns a function that describes kinds of one scope. */
function kindsOf(isNamespaced: boolean) {
  return (
    aliases: readonly string[],
    description: string,
    find: NamedKind['resource'],
  ): NamedKind => ({ aliases, description, isNamespaced, resource: find });
}

const namespaced = kindsOf(true);
const clusterScoped = kindsOf(false);

/** Each kind by the name that completion offers. */
export const NAMED_KINDS = {
  pod: namespaced(['po', 'pods'], 'what a pod mounts and waits for', () => PODS),
  deployment: workload('deployment', 'deploy'),
  statefulset: workload('statefulset', 'sts'),
  daemonset: workload('daemonset', 'ds'),
  replicaset: workload('replicaset', 'rs'),
  csr: clusterScoped(
    ['certificatesigningrequest', 'certificatesigningrequests'],
    'CertificateSigningRequest',
    () => resource(CSR_RESOURCE),
  ),
  pcr: namespaced(
    ['podcertificaterequest', 'podcertificaterequests'],
    'PodCertificateRequest',
    async (client) => (await certificatesResources(client, 'podcertificaterequests'))[0],
  ),
  certificaterequest: namespaced(
    ['cr', 'certificaterequests'],
    'CertificateRequest of cert-manager',
    () => resource(CERTIFICATE_REQUEST_RESOURCE),
  ),
  signer: clusterScoped(
    ['clustersigner', 'clustersigners'],
    'ClusterSigner',
    () => CLUSTER_SIGNERS,
  ),
  acmeclustersigner: clusterScoped(['acmeclustersigners'], 'AcmeClusterSigner', () =>
    resource(ACME_CLUSTER_SIGNERS),
  ),
  externalclustersigner: clusterScoped(
    ['externalclustersigners'],
    'ExternalClusterSigner',
    () => EXTERNAL_SIGNERS,
  ),
  acmesigner: namespaced(['acmesigners'], 'AcmeSigner', () => resource(ACME_SIGNERS)),
  order: namespaced(['orders'], 'Order of ACME', () => resource(ORDERS)),
  challenge: namespaced(['challenges'], 'Challenge of ACME', () => resource(CHALLENGES)),
  ctb: clusterScoped(
    ['clustertrustbundle', 'clustertrustbundles'],
    'ClusterTrustBundle',
    async (client) => (await certificatesResources(client, 'clustertrustbundles'))[0],
  ),
  secret: namespaced(['secrets'], 'Secret', () => SECRETS),
  configmap: namespaced(['cm', 'configmaps'], 'ConfigMap', () => CONFIG_MAPS),
};

/** A name of {@link NAMED_KINDS}. */
export type KindName = keyof typeof NAMED_KINDS;

function workload(kind: string, short: string): NamedKind {
  const of = resource({ group: 'apps', version: 'v1', plural: `${kind}s` });
  return namespaced([short, `${kind}s`], 'what its pods mount and wait for', () => of);
}

const NAMES: ReadonlyMap<string, KindName> = new Map(
  keysOf(NAMED_KINDS).flatMap((name) =>
    [name, ...NAMED_KINDS[name].aliases].map((each) => [each, name] as const),
  ),
);

/** Groups of the kinds. Kinds of the core group have none. */
const GROUPS: Readonly<Partial<Record<KindName, string>>> = {
  deployment: 'apps',
  statefulset: 'apps',
  daemonset: 'apps',
  replicaset: 'apps',
  csr: CSR_RESOURCE.group,
  pcr: CSR_RESOURCE.group,
  ctb: CSR_RESOURCE.group,
  certificaterequest: CERTIFICATE_REQUEST_RESOURCE.group,
  acmeclustersigner: ACME_GROUP,
  acmesigner: ACME_GROUP,
  order: ACME_GROUP,
  challenge: ACME_GROUP,
  signer: GROUP,
  externalclustersigner: GROUP,
};

/**
 * Returns the kind that a person wrote in any case, also with its group, as `kubectl get -o name`
 * prints it. Undefined for an unknown word.
 */
export function kindNamed(word: string): KindName | undefined {
  const [kind = '', ...group] = word.toLowerCase().split('.');
  const name = NAMES.get(kind);
  if (name === undefined || group.length === 0) return name;
  // The word `signer` and a group name the namespaced kind.
  return GROUPS[name] === group.join('.') && kind !== 'signer' ? name : undefined;
}
