// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { keyOf, type KubeObject } from '#api/object/object.ts';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { CERTIFICATE_RESOURCE, type CertManagerCertificate } from '#api/workload/certificate.ts';
import {
  DISRUPTION_BUDGET_RESOURCE,
  type DisruptionBudget,
} from '#api/workload/disruption-budget.ts';
import { WORKLOAD_KINDS, WORKLOAD_RESOURCES, type Workload } from '#api/workload/workload.ts';
import { certificatesResources } from '#component/certificates-resources.ts';
import type { Client } from '#kube/client/client.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import { NAMESPACES } from '#kube/resource/core-v1.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import { listObjects, type ListSelection } from '#kube/watch/list-objects.ts';
import type { ClusterView } from '#workloads/refresh/cluster-view.ts';
import { trustedSigner } from '#workloads/pod-refresher/signer-trust.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';
import { issuedRequest } from '#workloads/refresh/credentials/leaf.ts';

const BUDGETS = resource(DISRUPTION_BUDGET_RESOURCE);
const CERTIFICATES = resource(CERTIFICATE_RESOURCE);
const CERTIFICATE_REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);

/**
 * Lists all objects that restarts depend on.
 *
 * @throws KubeError if a list fails. cert-manager need not be installed.
 */
export async function readCluster(client: Client, view: ClusterView): Promise<void> {
  const { seen } = view;
  for (const object of await list<KubeObject>(client, NAMESPACES)) {
    seen.namespaces(object.metadata.name, object, undefined);
  }
  for (const kind of WORKLOAD_KINDS) {
    for (const object of await list<Workload>(client, resource(WORKLOAD_RESOURCES[kind]))) {
      const workload = { ...object, apiVersion: 'apps/v1', kind };
      seen.workloads(keyOf(object.metadata), workload, undefined);
    }
  }
  for (const object of await list<DisruptionBudget>(client, BUDGETS)) {
    seen.budgets(keyOf(object.metadata), object, undefined);
  }
  await readCertificates(client, view);
}

async function readCertificates(client: Client, { seen }: ClusterView): Promise<void> {
  for (const object of await list<CertManagerCertificate>(client, CERTIFICATES)) {
    seen.certificates(keyOf(object.metadata), object, undefined);
  }
  for (const object of await list<CertificateRequest>(client, CERTIFICATE_REQUESTS)) {
    seen.certificateRequests(keyOf(object.metadata), issuedRequest(object), undefined);
  }
  for (const object of await list<ClusterSigner>(client, CLUSTER_SIGNERS)) {
    seen.signers(object.metadata.name, trustedSigner(object), undefined);
  }
  const [podRequests] = await certificatesResources(client, 'podcertificaterequests');
  const [bundles] = await certificatesResources(client, 'clustertrustbundles');
  for (const object of await list<PodCertificateRequest>(client, podRequests)) {
    seen.podCertificateRequests(keyOf(object.metadata), object, undefined);
  }
  for (const object of await list<ClusterTrustBundle>(client, bundles)) {
    seen.bundles(object.metadata.name, object, undefined);
  }
}

/**
 * Returns the UIDs of the workloads with these labels.
 *
 * @throws KubeError for an invalid selector
 */
export async function selectedWorkloads(
  client: Client,
  labelSelector: string,
  namespace: string | undefined,
): Promise<ReadonlySet<string>> {
  const found = await Promise.all(
    WORKLOAD_KINDS.map((kind) =>
      list<Workload>(client, resource(WORKLOAD_RESOURCES[kind]), { labelSelector, namespace }),
    ),
  );
  return new Set(found.flat().map(({ metadata }) => metadata.uid));
}

async function list<T>(
  client: Client,
  kind: Resource,
  selection: ListSelection<T> = {},
): Promise<readonly T[]> {
  return (await listObjects(client, kind, selection).catch(ignoreNotFound)) ?? [];
}
