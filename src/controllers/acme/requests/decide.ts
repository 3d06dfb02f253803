// SPDX-License-Identifier: Apache-2.0
import { nextOrderAt } from '../../../acme-orders/index.ts';
import type { Order, OrderSpec } from '../../../api/acme/index.ts';
import { namesOf } from '../store/requester.ts';

/** What an Order asks the server for. */
export type AskedNames = Pick<OrderSpec, 'request' | 'identifiers' | 'profile'>;

/** All that one decision about a request's Orders depends on. */
export interface OrdersOfRequest {
  /** metadata.uid of the request: spreads the waits of many. */
  readonly uid: string;
  readonly asked: AskedNames;
  /** Its Orders, in any order. */
  readonly orders: readonly Order[];
  /** Whether somebody deleted its newest Order: they want the next one at once. */
  readonly retriedNow: boolean;
  /** What is wrong with a chain, in PEM; undefined where it can be delivered. */
  readonly wrongChain: (pem: string) => string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What is done for a request. */
export type OrderPlan =
  | { readonly kind: 'deliver'; readonly chain: string }
  /** No attempt will ever be answered. */
  | { readonly kind: 'fail'; readonly message: string }
  | { readonly kind: 'create' }
  /** They ask for what the request asks for no longer, or are too many. */
  | { readonly kind: 'remove'; readonly orders: readonly Order[] }
  /** Until a time, or until an Order changes. */
  | { readonly kind: 'wait'; readonly until: number | undefined; readonly message: string };

/** Orders of a request that are kept: with ten the wait between them has grown to its full length. */
const MAX_KEPT = 10;

/** Decides what follows from the Orders that a request has. One of them is live at most. Synchronous and total. */
export function decide(view: OrdersOfRequest): OrderPlan {
  const orders = view.orders.toSorted((a, b) => b.spec.attempt - a.spec.attempt);
  const [newest, ...earlier] = orders;
  const surplus = earlier.filter((each, index) => !isEnded(each) || index + 1 >= MAX_KEPT);
  const stale = orders.filter((each) => isStale(each, view.asked));
  if (stale.length + surplus.length > 0)
    return { kind: 'remove', orders: [...new Set([...stale, ...surplus])] };
  return newest === undefined ? { kind: 'create' } : byNewest(view, newest);
}

function byNewest(view: OrdersOfRequest, { metadata: { name }, status }: Order): OrderPlan {
  const { state, certificate, reason, message = '' } = status;
  const why = reason === undefined ? (state ?? 'queued') : `${reason}: ${message}`;
  if (state === 'failed') return { kind: 'fail', message: why };
  if (state === 'invalid') return again(view, `Order ${name} ended: ${why}`);
  if (state !== 'valid' || certificate === undefined) {
    const until = millis(status.nextAttemptAt);
    return { kind: 'wait', until, message: `Order ${name}: ${why}` };
  }
  const wrong = view.wrongChain(certificate);
  if (wrong === undefined) return { kind: 'deliver', chain: certificate };
  return again(view, `Order ${name} has ${wrong}`);
}

/** Another Order, once enough time has passed since those that came to nothing. */
function again({ orders, uid, now, retriedNow }: OrdersOfRequest, why: string): OrderPlan {
  const ends = orders.map(({ status }) => millis(status.finalAt) ?? now);
  const until = nextOrderAt(
    ends.toSorted((a, b) => a - b),
    uid,
  );
  if (retriedNow || until <= now) return { kind: 'create' };
  const message = `${why}; the next one is made at ${new Date(until).toISOString()}, or when it is deleted`;
  return { kind: 'wait', until, message };
}

/** Whether nothing happens to it any more. */
export function isEnded({ status: { state, certificate } }: Order): boolean {
  return (
    state === 'invalid' || state === 'failed' || (state === 'valid' && certificate !== undefined)
  );
}

/** A server's order keeps the profile that it was made with; one that is not made yet would ask for the wrong one. */
function isStale(order: Order, asked: AskedNames): boolean {
  const { spec, status } = order;
  if (spec.request !== asked.request || namesOf(spec) !== namesOf(asked)) return true;
  return status.url === undefined && !isEnded(order) && spec.profile !== asked.profile;
}

function millis(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}
