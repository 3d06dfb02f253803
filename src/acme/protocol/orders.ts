// SPDX-License-Identifier: Apache-2.0
import { mapAnswer, type Answer } from './answer.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import type { Account } from './accounts.ts';
import type { HttpAnswer } from '#base/egress/exchange.ts';
import type { AcmeChallenge, Authorization, Identifier, OrderBody } from './resources.ts';
import { isNoAnswer, jsonOf, one, shaped } from './read-answer.ts';
import type { AcmeServer } from './server.ts';

/** An order at the server (RFC 8555 §7.1.3). */
export interface AcmeOrder extends OrderBody {
  readonly url: string;
}

/** Contents of a request for a new order. */
export interface NewOrder {
  readonly identifiers: readonly Identifier[];
  /** A profile of the directory. */
  readonly profile?: string;
  /** Id of the certificate that this one renews (RFC 9773 §5), from `renewalId`. */
  readonly replaces?: string;
}

/**
 * Creates an order (RFC 8555 §7.4). newOrder has no idempotency key. If the answer is lost, the
 * order may exist, and no client can find it again.
 */
export async function newOrder(
  server: AcmeServer,
  account: Account,
  wanted: NewOrder,
  signal?: AbortSignal,
): Promise<Answer<AcmeOrder>> {
  const directory = await server.directory(signal);
  if (directory.kind !== 'ok') return directory;
  const body = jsonOf(server.resources.order);
  const read = (received: HttpAnswer): AcmeOrder | NoAnswer => {
    const url = shaped(server.resources.url, one(received.headers['location']), 'Location');
    if (isNoAnswer(url)) return url;
    const order = body(received);
    return isNoAnswer(order) ? order : { ...order, url };
  };
  const { newOrder: url } = directory.value;
  return server.post(account, { endpoint: 'newOrder', url, read, payload: wanted }, signal);
}

/** @param url - URL of the order */
export async function getOrder(
  server: AcmeServer,
  account: Account,
  url: string,
  signal?: AbortSignal,
): Promise<Answer<AcmeOrder>> {
  const read = jsonOf(server.resources.order);
  const answer = await server.post(account, { endpoint: 'order', url, read }, signal);
  return mapAnswer(answer, (order) => ({ ...order, url }));
}

/**
 * Reads the state of an authorization and its challenges. No call reads a challenge itself: some
 * servers take a POST-as-GET of a challenge as its acceptance.
 */
export function getAuthorization(
  server: AcmeServer,
  account: Account,
  url: string,
  signal?: AbortSignal,
): Promise<Answer<Authorization>> {
  const read = jsonOf(server.resources.authorization);
  return server.post(account, { endpoint: 'authorization', url, read }, signal);
}

/**
 * Deactivates an authorization (RFC 8555 §7.5.2). CAs count pending authorizations, otherwise for a
 * week. A deactivated one is of no further use. A second call is refused or returns the same state.
 */
export function deactivateAuthorization(
  server: AcmeServer,
  account: Account,
  url: string,
): Promise<Answer<Authorization>> {
  const read = jsonOf(server.resources.authorization);
  const payload = { status: 'deactivated' };
  return server.post(account, { endpoint: 'authorization', url, read, payload });
}

/** Notifies the server that it can validate a challenge (RFC 8555 §7.5.1). */
export function acceptChallenge(
  server: AcmeServer,
  account: Account,
  url: string,
  signal?: AbortSignal,
): Promise<Answer<AcmeChallenge>> {
  const read = jsonOf(server.resources.challenge);
  return server.post(account, { endpoint: 'challenge', url, read, payload: {} }, signal);
}

/** Requests the certificate of an order that is ready (RFC 8555 §7.4). */
export async function finalizeOrder(
  server: AcmeServer,
  account: Account,
  order: Pick<AcmeOrder, 'url' | 'finalize'>,
  csr: Uint8Array,
): Promise<Answer<AcmeOrder>> {
  const read = jsonOf(server.resources.order);
  const payload = { csr: Buffer.from(csr).toString('base64url') };
  const answer = await server.post(account, {
    endpoint: 'finalize',
    url: order.finalize,
    read,
    payload,
  });
  return mapAnswer(answer, (found) => ({ ...found, url: order.url }));
}
