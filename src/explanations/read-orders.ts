// SPDX-License-Identifier: Apache-2.0
import {
  CHALLENGES,
  ORDER_UID_LABEL,
  ORDERS,
  readChallengeObject,
  readOrder,
  type Challenge,
  type Order,
} from '../api/acme/index.ts';
import type { KubeObject } from '../api/object/object.ts';
import { SignerError, attempt } from '../errors.ts';
import type { Client } from '../kube/client/client.ts';
import { KubeError } from '../kube/client/kube-error.ts';
import { resource } from '../kube/resource/resource.ts';
import { listPages } from '../kube/watch/list-pages.ts';

const ORDER_KIND = resource(ORDERS);
const CHALLENGE_KIND = resource(CHALLENGES);

/** The newest Order of a request; undefined where there is none, or the user may not list them. */
export async function newestOrder(
  client: Client,
  { metadata: { uid, namespace } }: KubeObject,
): Promise<Order | undefined> {
  const found: Order[] = [];
  await listSeen(client, ORDER_KIND.collection(namespace), undefined, (object) => {
    const order = attempt(() => readOrder(object));
    if (!(order instanceof SignerError) && order.spec.requestRef.uid === uid) found.push(order);
  });
  return found.toSorted((a, b) => a.spec.attempt - b.spec.attempt).at(-1);
}

/** The Challenges of an Order that the user may list. */
export async function challengesOf(
  client: Client,
  { metadata: { uid, namespace } }: Order,
): Promise<readonly Challenge[]> {
  const found: Challenge[] = [];
  const path = CHALLENGE_KIND.collection(namespace);
  await listSeen(client, path, `${ORDER_UID_LABEL}=${uid}`, (object) => {
    const challenge = attempt(() => readChallengeObject(object));
    if (!(challenge instanceof SignerError)) found.push(challenge);
  });
  return found;
}

async function listSeen(
  client: Client,
  path: string,
  labelSelector: string | undefined,
  take: (object: KubeObject) => void,
): Promise<void> {
  try {
    const init = { client, path, ...(labelSelector === undefined ? {} : { labelSelector }) };
    await listPages(init, (object) => {
      take(object as KubeObject);
    });
  } catch (error) {
    // Not allowed, or ACME is not installed.
    if (!(error instanceof KubeError) || (error.status !== 403 && error.status !== 404))
      throw error;
  }
}
