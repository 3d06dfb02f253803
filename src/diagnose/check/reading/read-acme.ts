// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import { ACME_CLUSTER_SIGNERS, ACME_SIGNERS, ORDERS } from '#api/acme/names.ts';
import { readOrder, type Order } from '#api/acme/order.ts';
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
  const [cluster, namespaced, orders] = await Promise.all([
    listVisible(client, ACME_CLUSTER_SIGNERS, readSigner),
    listVisible(client, ACME_SIGNERS, readSigner),
    readNewestOrders(client),
  ]);
  if (!('value' in cluster)) return cluster;
  if (!('value' in namespaced)) return namespaced;
  const read = [...cluster.value, ...namespaced.value];
  const signers = read.flatMap(({ signer }) => signer ?? []);
  const invalid = read.flatMap((each) => each.invalid ?? []);
  return { value: { signers, invalid, orders } };
}

/** A signer, or why its spec is invalid. */
interface ReadSigner {
  readonly signer?: AcmeSigner;
  readonly invalid?: AcmeFacts['invalid'][number];
}

function readSigner(object: KubeObject): readonly [ReadSigner] {
  const signer = attempt(() => readAcmeSigner(object));
  if (!(signer instanceof SignerError)) return [{ signer }];
  const name = `${object.kind.toLowerCase()}/${keyOf(object.metadata)}`;
  return [{ invalid: { name, why: signer.message } }];
}

async function readNewestOrders(client: Client): Promise<ReadResult<readonly NewestOrder[]>> {
  const orders = await listVisible(client, ORDERS, (object: KubeObject) => {
    const order = attempt(() => readOrder(object));
    return order instanceof SignerError ? [] : [factsOf(order)];
  });
  return mapSeen(orders, newestOfEachRequest);
}

interface OrderFacts extends NewestOrder {
  /** UID of the request. */
  readonly request: string;
}

function factsOf({ metadata, spec, status }: Order): OrderFacts {
  const { state, certificate, reason, message = '', nextAttemptAt } = status;
  return {
    request: spec.requestRef.uid,
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    attempt: spec.attempt,
    state,
    isIssued: state === 'valid' && certificate !== undefined,
    since: Date.parse(metadata.creationTimestamp),
    ...(reason === undefined ? {} : { reason, why: `${reason}: ${message}` }),
    ...(nextAttemptAt === undefined ? {} : { nextAttemptAt: Date.parse(nextAttemptAt) }),
  };
}

function newestOfEachRequest(orders: readonly OrderFacts[]): readonly NewestOrder[] {
  const newest = new Map<string, OrderFacts>();
  for (const order of orders) {
    const before = newest.get(order.request);
    if (before === undefined || before.attempt <= order.attempt) newest.set(order.request, order);
  }
  return [...newest.values()];
}
