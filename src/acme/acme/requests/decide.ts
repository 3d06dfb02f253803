// SPDX-License-Identifier: Apache-2.0
import { nextOrderAt } from '#acme/orders/index.ts';
import { SIGNER_VERSION_ANNOTATION } from '#api/acme/names.ts';
import { WRONG_CERTIFICATE, type Order, type OrderSpec } from '#api/acme/order.ts';
import { namesOf } from '../store/requester.ts';
import type { SignerHold } from './signer-holds.ts';
import * as messages from '../messages.ts';

/** Contents of an Order's request to the server. */
export type OrderContents = Pick<OrderSpec, 'request' | 'identifiers' | 'profile'>;

/** Input of a decision about a request's Orders. */
export interface OrdersOfRequest {
  /** metadata.uid of the request, which spreads the waits of many. */
  readonly uid: string;
  readonly asked: OrderContents;
  /** Orders of the request, in any order. */
  readonly orders: readonly Order[];
  /** Whether a user deleted its newest Order to get the next one at once. */
  readonly retriedNow: boolean;
  /** Version of the signer, as `signerVersionOf` returns it. */
  readonly signerVersion: string;
  /** Reason that the signer orders nothing new. */
  readonly hold: SignerHold | undefined;
  /** Returns the fault of a PEM chain, or undefined if it can be delivered. */
  readonly wrongChain: (pem: string) => string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Next action for a request. */
export type OrderPlan =
  | { readonly kind: 'deliver'; readonly chain: string }
  /** No attempt can succeed. */
  | { readonly kind: 'fail'; readonly message: string }
  | { readonly kind: 'create' }
  /** Orders for an earlier version of the request, or more than the limit. */
  | { readonly kind: 'remove'; readonly orders: readonly Order[] }
  /** Wait until a time, or until an Order changes. */
  | { readonly kind: 'wait'; readonly until: number | undefined; readonly message: string };

/** Limit on kept Orders of a request: with ten, the wait between them has its full length. */
const MAX_KEPT = 10;

/**
 * Decides the next action from the Orders of a request. At most one of them is live. Synchronous
 * and total.
 */
export function decide(view: OrdersOfRequest): OrderPlan {
  const orders = view.orders.toSorted((a, b) => b.spec.attempt - a.spec.attempt);
  const [newest, ...earlier] = orders;
  const surplus = earlier.filter((each, index) => !isEnded(each) || index + 1 >= MAX_KEPT);
  const stale = orders.filter((each) => isStale(each, view.asked));
  if (stale.length + surplus.length > 0)
    return { kind: 'remove', orders: [...new Set([...stale, ...surplus])] };
  if (newest !== undefined) return byNewest(view, newest);
  const { hold, retriedNow } = view;
  return hold === undefined || retriedNow ? { kind: 'create' } : { kind: 'wait', ...hold };
}

/**
 * Reports whether another Order would end as this one. The CA issued a certificate that the signer
 * does not allow, and each Order uses up a share of the CA's limits.
 */
function wouldRepeat({ signerVersion, retriedNow }: OrdersOfRequest, order: Order): boolean {
  const { metadata, status } = order;
  const isSame = metadata.annotations?.[SIGNER_VERSION_ANNOTATION] === signerVersion;
  return status.reason === WRONG_CERTIFICATE && isSame && !retriedNow;
}

function byNewest(view: OrdersOfRequest, newest: Order): OrderPlan {
  const { metadata, status } = newest;
  const { name } = metadata;
  const { state, certificate, reason, message = '' } = status;
  const why =
    reason === undefined ? (state ?? 'queued') : messages.reasonAndMessage(reason, message);
  if (state === 'failed') return { kind: 'fail', message: why };
  if (wouldRepeat(view, newest))
    return { kind: 'wait', until: undefined, message: messages.notRepeated(name, why) };
  if (state === 'invalid') return again(view, messages.orderEnded(name, why));
  if (state !== 'valid' || certificate === undefined) {
    const until = millis(status.nextAttemptAt);
    return { kind: 'wait', until, message: messages.orderState(name, why) };
  }
  const wrong = view.wrongChain(certificate);
  if (wrong === undefined) return { kind: 'deliver', chain: certificate };
  return again(view, messages.wrongChain(name, wrong));
}

/**
 * Creates another Order after a sufficient wait since the failed ones. A user who deleted an Order
 * tries the CA at once.
 */
function again(view: OrdersOfRequest, why: string): OrderPlan {
  const { orders, uid, now, retriedNow, hold } = view;
  if (hold !== undefined && !retriedNow) return { kind: 'wait', ...hold };
  const ends = orders.map(({ status }) => millis(status.finalAt) ?? now);
  const until = nextOrderAt(
    ends.toSorted((a, b) => a - b),
    uid,
  );
  if (retriedNow || until <= now) return { kind: 'create' };
  const message = messages.nextOrder(why, new Date(until).toISOString());
  return { kind: 'wait', until, message };
}

/** Reports whether the Order changes no more. */
export function isEnded({ status: { state, certificate } }: Order): boolean {
  return (
    state === 'invalid' || state === 'failed' || (state === 'valid' && certificate !== undefined)
  );
}

/**
 * Reports whether the Order differs from the request. A server's order keeps its profile. An Order
 * without one would request the wrong profile.
 */
function isStale(order: Order, asked: OrderContents): boolean {
  const { spec, status } = order;
  if (spec.request !== asked.request || namesOf(spec) !== namesOf(asked)) return true;
  return status.url === undefined && !isEnded(order) && spec.profile !== asked.profile;
}

function millis(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}
