// SPDX-License-Identifier: Apache-2.0
/** State of an Order: its status as this process knows it, its writes, and its Challenges. */
import { NO_ORDER_MEMORY } from '#acme/orders/index.ts';
import { changed, toWrite } from '#acme/orders/status.ts';
import { readChallengeObject } from '#api/acme/challenge.ts';
import { CHALLENGES, ORDER_UID_LABEL, ORDERS } from '#api/acme/names.ts';
import { readOrder, type Order } from '#api/acme/order.ts';
import { keyOf, type KubeObject } from '#api/object/object.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import type { AcmeContext } from '../context.ts';
import { eventOfOrder } from '../store/events.ts';
import type { HeldOrder, Term } from '../store/leader-state.ts';
import { statusChanged, writeStatus } from '../store/write-status.ts';
import type { ChallengeBody } from './new-challenge.ts';
import * as messages from '../messages.ts';

const ORDER_PATHS = resource(ORDERS);
const CHALLENGE_PATHS = resource(CHALLENGES);

/** Returns the state of an Order in this term. The first reading takes its status. */
export function heldOrder(term: Term, { metadata, status }: Order): HeldOrder {
  const { uid, creationTimestamp } = metadata;
  const held = term.orders.get(uid) ?? {
    status,
    memory: NO_ORDER_MEMORY,
    isFresh: Date.parse(creationTimestamp) > term.beganAt,
  };
  term.orders.set(uid, held);
  return held;
}

/** Reports whether the Order was deleted, by our watch. Another Order may have its name. */
export function isGone(
  { orders }: Pick<AcmeContext, 'orders'>,
  { metadata }: Pick<Order, 'metadata'>,
): boolean {
  return orders.get(keyOf(metadata))?.metadata.uid !== metadata.uid;
}

/** Writes a changed status. @returns the Order in its new version */
export async function saveOrder(
  { component, orders }: Pick<AcmeContext, 'component' | 'orders'>,
  before: Order,
  held: HeldOrder,
): Promise<Order> {
  // Other loops write these two members.
  const { renewal, revocation } = before.status;
  const status = toWrite(changed(held.status, { renewal, revocation }));
  // No write for a state that the next poll ends: a new process polls as well.
  const isBrief = status.state === 'processing' && held.memory.polls === 1;
  if (!statusChanged(before.status, status, isBrief ? ['state'] : [])) return before;
  const written = await writeStatus(component, ORDER_PATHS, { ...before, status });
  orders.applyWrite(written);
  const event = eventOfOrder(written, before.status);
  if (event !== undefined) component.events.record(event);
  const { state, reason } = status;
  component.log.info({ order: keyOf(before.metadata), state, reason }, messages.ORDER_CHANGED);
  return written;
}

/** Reads an Order from the API server. An earlier leader's write may not have been delivered. */
export async function readOrderAgain(
  { component, orders }: Pick<AcmeContext, 'component' | 'orders'>,
  before: Order,
): Promise<Order> {
  const path = ORDER_PATHS.object(before.metadata);
  const order = readOrder(await component.client.request<KubeObject>({ method: 'GET', path }));
  // An Order that was deleted during the call stays out of the cache.
  if (!isGone({ orders }, before)) orders.applyWrite(order);
  return order;
}

/** Creates a Challenge, or finds the one that an earlier call or leader created. */
export async function createChallenge(
  { component, challenges }: Pick<AcmeContext, 'component' | 'challenges'>,
  body: ChallengeBody,
): Promise<void> {
  const path = CHALLENGE_PATHS.collection(body.metadata.namespace);
  const made = await component.client
    .request<KubeObject>({ method: 'POST', path, body })
    .catch((error: unknown) => {
      // Our watch lags behind the creation by an earlier leader, or by a call whose answer was
      // lost.
      if (!(error instanceof KubeError) || error.code !== 'KUBE_ALREADY_EXISTS') throw error;
      const of = { method: 'GET', path: CHALLENGE_PATHS.object(body.metadata) } as const;
      return component.client.request<KubeObject>(of);
    });
  challenges.applyWrite(readChallengeObject(made));
}

/**
 * Deletes all Challenges of an Order by one call. Each has this label from its creation, and no
 * other object has it.
 */
export async function deleteChallenges(
  { component }: Pick<AcmeContext, 'component'>,
  { metadata: { uid, namespace } }: Order,
): Promise<void> {
  const query = { labelSelector: `${ORDER_UID_LABEL}=${uid}` };
  const path = CHALLENGE_PATHS.collection(namespace);
  await component.client.request({ method: 'DELETE', path, query });
}
