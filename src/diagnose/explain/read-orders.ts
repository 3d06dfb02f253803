// SPDX-License-Identifier: Apache-2.0
import { readChallengeObject, type Challenge } from '#api/acme/challenge.ts';
import { CHALLENGES, ORDER_UID_LABEL, ORDERS } from '#api/acme/names.ts';
import { readOrder, type Order } from '#api/acme/order.ts';
import type { KubeObject } from '#api/object/object.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { resource } from '#kube/resource/resource.ts';
import { listReadable } from '#kube/watch/list-objects.ts';

const ORDER_KIND = resource(ORDERS);
const CHALLENGE_KIND = resource(CHALLENGES);

/**
 * Returns the latest Order of a request. Undefined if there is none, or the user may not list
 * Orders.
 */
export async function newestOrder(
  client: Client,
  { metadata: { uid, namespace } }: KubeObject,
): Promise<Order | undefined> {
  const found = await listReadable<KubeObject>(client, ORDER_KIND, { namespace });
  return found
    .flatMap((object) => validOf(() => readOrder(object)))
    .filter(({ spec }) => spec.requestRef.uid === uid)
    .toSorted((a, b) => a.spec.attempt - b.spec.attempt)
    .at(-1);
}

/** Returns the Challenges of an Order. Empty if the user may not list them. */
export async function challengesOf(
  client: Client,
  { metadata: { uid, namespace } }: Order,
): Promise<readonly Challenge[]> {
  const labelSelector = `${ORDER_UID_LABEL}=${uid}`;
  const found = await listReadable<KubeObject>(client, CHALLENGE_KIND, {
    namespace,
    labelSelector,
  });
  return found.flatMap((object) => validOf(() => readChallengeObject(object)));
}

function validOf<T>(read: () => T): readonly T[] {
  const found = attempt(read);
  return found instanceof SignerError ? [] : [found];
}
