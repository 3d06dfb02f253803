// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import { quantityValue } from '#kube/apply/objects/quantity.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import { resource } from '#kube/resource/resource.ts';
import { listReadable } from '#kube/watch/list-objects.ts';
import { shellWord } from '#base/quote.ts';

const RESOURCE_QUOTAS = resource({ group: '', version: 'v1', plural: 'resourcequotas' });
/** Key under which a ResourceQuota counts PodCertificateRequests. */
const COUNTED = 'count/podcertificaterequests.certificates.k8s.io';

/** Quantities. The API server writes 1000 as `1k`. */
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
  if (hard === undefined) return undefined;
  const isFull = countOf(status?.used?.[COUNTED] ?? '0') >= countOf(hard);
  return isFull ? { name: metadata.name, hard } : undefined;
}

/** Returns the number that a quantity stands for. A comparison with NaN is false. */
function countOf(quantity: string): number {
  return quantityValue(quantity) ?? NaN;
}

/** Allows as many as most teams start pods in 15 minutes: a request is counted for so long. */
const ENOUGH = 100;

/** Returns the command by which a full ResourceQuota allows twice as many. It never lowers one. */
export function raiseCommand(namespace: string, { name, hard }: FullQuota): string {
  const enough = String(Math.max(ENOUGH, 2 * countOf(hard)));
  const raise = JSON.stringify({ spec: { hard: { [COUNTED]: enough } } });
  return `kubectl -n ${shellWord(namespace)} patch resourcequota ${shellWord(name)} --type=merge -p ${shellWord(raise)}`;
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
