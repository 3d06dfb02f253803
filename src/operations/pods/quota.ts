// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import { resource } from '#kube/resource/resource.ts';
import { listReadable } from '#kube/watch/list-objects.ts';
import { shellWord } from '#base/quote.ts';

const RESOURCE_QUOTAS = resource({ group: '', version: 'v1', plural: 'resourcequotas' });
/**
 * Key under which a ResourceQuota counts PodCertificateRequests. Its numbers are quantities, and
 * quantities of counts are integers.
 */
const COUNTED = 'count/podcertificaterequests.certificates.k8s.io';

type Numbers = Readonly<Record<string, string>>;

/** core/v1 ResourceQuota, reduced to the fields that are read. */
export interface ResourceQuota extends StoredObject {
  readonly status?: { readonly hard?: Numbers; readonly used?: Numbers };
}

/** A ResourceQuota because of which the API server rejects the kubelet's requests. */
export interface FullQuota {
  readonly name: string;
  /** Number of PodCertificateRequests that it allows. */
  readonly hard: string;
}

/**
 * Returns the ResourceQuota if it allows no more PodCertificateRequests. Returns undefined if it
 * allows more, or does not count them.
 */
export function fullQuotaIn({ metadata, status }: ResourceQuota): FullQuota | undefined {
  const hard = status?.hard?.[COUNTED];
  if (hard === undefined || Number(status?.used?.[COUNTED] ?? 0) < Number(hard)) return undefined;
  return { name: metadata.name, hard };
}

/** Allows as many as most teams start pods in 15 minutes: a request is counted for so long. */
const ENOUGH = '100';

/** The command by which a full ResourceQuota allows more. */
export function raiseCommand(namespace: string, quota: string): string {
  const raise = JSON.stringify({ spec: { hard: { [COUNTED]: ENOUGH } } });
  return `kubectl -n ${shellWord(namespace)} patch resourcequota ${shellWord(quota)} --type=merge -p ${shellWord(raise)}`;
}

/**
 * Reads the ResourceQuota of a namespace that allows no more PodCertificateRequests. Returns
 * undefined if there is none, or the user may not list them.
 */
export async function readFullQuota(
  client: Client,
  namespace: string,
): Promise<FullQuota | undefined> {
  const quotas = await listReadable<Parameters<typeof fullQuotaIn>[0]>(client, RESOURCE_QUOTAS, {
    namespace,
  });
  return quotas.map(fullQuotaIn).find((full) => full !== undefined);
}
