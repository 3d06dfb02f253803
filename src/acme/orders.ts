// SPDX-License-Identifier: Apache-2.0
import { mapAnswer, type Answer, type NoAnswer } from './answer.ts';
import type { Account } from './accounts.ts';
import type { Received } from './exchange.ts';
import type { AcmeChallenge, Authorization, Identifier, OrderBody } from './resources.ts';
import { isNoAnswer, jsonOf, one, shaped } from './read-answer.ts';
import type { AcmeServer } from './server.ts';

/** An order at the server (RFC 8555 §7.1.3). */
export interface AcmeOrder extends OrderBody {
  readonly url: string;
}

/** What a new order asks for. */
export interface NewOrder {
  readonly identifiers: readonly Identifier[];
  /** One of the directory's profiles. */
  readonly profile?: string;
  /** Id of the certificate that this one renews (RFC 9773 §5), by `renewalId`. */
  readonly replaces?: string;
}

/**
 * Makes an order (RFC 8555 §7.4). It has no idempotency key: where the answer is lost, the order may be there, and
 * nobody can find it again.
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
  const read = (received: Received): AcmeOrder | NoAnswer => {
    const url = shaped(server.resources.url, one(received.headers['location']), 'Location');
    if (isNoAnswer(url)) return url;
    const order = body(received);
    return isNoAnswer(order) ? order : { ...order, url };
  };
  const { newOrder: url } = directory.value;
  return server.post(account, { endpoint: 'newOrder', url, read, payload: wanted }, signal);
}

/** @param url - of the order */
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
 * The state of an authorization and of its challenges. Challenges are never asked for themselves: some servers take
 * a POST-as-GET of one for its acceptance.
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
 * Gives an authorization up (RFC 8555 §7.5.2). CAs count those that are pending: without it they do so for a week. Nothing
 * can be done with it any more; asked twice, a server refuses or says the same again.
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

/** Says that a challenge can be validated now (RFC 8555 §7.5.1). */
export function acceptChallenge(
  server: AcmeServer,
  account: Account,
  url: string,
  signal?: AbortSignal,
): Promise<Answer<AcmeChallenge>> {
  const read = jsonOf(server.resources.challenge);
  return server.post(account, { endpoint: 'challenge', url, read, payload: {} }, signal);
}

/** Asks for the certificate of an order that is ready (RFC 8555 §7.4). */
export async function finalizeOrder(
  server: AcmeServer,
  account: Account,
  order: Pick<AcmeOrder, 'url' | 'finalize'>,
  csr: Uint8Array,
): Promise<Answer<AcmeOrder>> {
  const read = jsonOf(server.resources.order);
  const payload = { csr: Buffer.from(csr).toString('base64url') };
  const answer = await server.post(account, {
    ...{ endpoint: 'finalize', url: order.finalize, read, payload },
  });
  return mapAnswer(answer, (found) => ({ ...found, url: order.url }));
}
