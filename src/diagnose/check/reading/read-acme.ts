// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import { ACME_CLUSTER_SIGNERS, ACME_SIGNERS, ORDERS } from '#api/acme/names.ts';
import { readOrder } from '#api/acme/order.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import { keyOf, type KubeObject } from '#api/object/object.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import type { AcmeFacts, NewestOrder } from '../facts.ts';
import type { ReadResult } from '../finding.ts';
import { mapSeen, listVisible } from './list-visible.ts';

/**
 * Lists the ACME signers and the latest Order of each request. Empty if the kinds are not
 * installed.
 */
export async function readAcme(client: Client): Promise<ReadResult<AcmeFacts>> {
  const keep = (object: KubeObject): readonly KubeObject[] => [object];
  const [cluster, namespaced, orders] = await Promise.all([
    listVisible<KubeObject, KubeObject>(client, ACME_CLUSTER_SIGNERS, keep),
    listVisible<KubeObject, KubeObject>(client, ACME_SIGNERS, keep),
    readNewestOrders(client),
  ]);
  if (!('value' in cluster)) return cluster;
  if (!('value' in namespaced)) return namespaced;
  const signers: AcmeSigner[] = [];
  const invalid: { name: string; why: string }[] = [];
  for (const object of [...cluster.value, ...namespaced.value]) {
    const signer = attempt(() => readAcmeSigner(object));
    if (!(signer instanceof SignerError)) signers.push(signer);
    else
      invalid.push({
        name: `${object.kind.toLowerCase()}/${keyOf(object.metadata)}`,
        why: signer.message,
      });
  }
  return { value: { signers, invalid, orders } };
}

/** Keeps only the latest Order of each request. */
async function readNewestOrders(client: Client): Promise<ReadResult<readonly NewestOrder[]>> {
  const newest = new Map<string, NewestOrder>();
  const seen = await listVisible<KubeObject, never>(client, ORDERS, (object) => {
    const order = attempt(() => readOrder(object));
    if (order instanceof SignerError) return [];
    const { metadata, spec, status } = order;
    const before = newest.get(spec.requestRef.uid);
    if (before !== undefined && before.attempt > spec.attempt) return [];
    newest.set(spec.requestRef.uid, {
      name: metadata.name,
      namespace: metadata.namespace ?? '',
      attempt: spec.attempt,
      state: status.state,
      isIssued: status.state === 'valid' && status.certificate !== undefined,
      since: Date.parse(metadata.creationTimestamp),
      ...(status.reason === undefined
        ? {}
        : { reason: status.reason, why: `${status.reason}: ${status.message ?? ''}` }),
      ...(status.nextAttemptAt === undefined
        ? {}
        : { nextAttemptAt: Date.parse(status.nextAttemptAt) }),
    });
    return [];
  });
  return mapSeen(seen, () => [...newest.values()]);
}
