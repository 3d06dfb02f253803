// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import type { StoredObject } from '../../kube/resource/object.ts';
import { resource } from '../../kube/resource/resource.ts';
import { listPages } from '../../kube/watch/list-pages.ts';

const RESOURCE_QUOTAS = resource({ group: '', version: 'v1', plural: 'resourcequotas' });
/** How a ResourceQuota counts them. Its numbers are quantities, and those of counts are written as integers. */
const COUNTED = 'count/podcertificaterequests.certificates.k8s.io';

type Numbers = Readonly<Record<string, string>>;

interface ResourceQuota extends StoredObject {
  readonly status?: { readonly hard?: Numbers; readonly used?: Numbers };
}

/** A ResourceQuota by which the API server refuses what the kubelet would ask. */
export interface FullQuota {
  readonly name: string;
  /** How many PodCertificateRequests it allows. */
  readonly hard: string;
}

/** The ResourceQuota of a namespace that allows no more PodCertificateRequests; undefined: none, or the user may not list them. */
export async function readFullQuota(
  client: Client,
  namespace: string,
): Promise<FullQuota | undefined> {
  const found: FullQuota[] = [];
  try {
    await listPages({ client, path: RESOURCE_QUOTAS.collection(namespace) }, (object) => {
      const { metadata, status } = object as ResourceQuota;
      const hard = status?.hard?.[COUNTED];
      if (hard === undefined || Number(status?.used?.[COUNTED] ?? 0) < Number(hard)) return;
      found.push({ name: metadata.name, hard });
    });
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
  }
  return found[0];
}
