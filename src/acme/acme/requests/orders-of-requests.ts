// SPDX-License-Identifier: Apache-2.0
import type { Order } from '#api/acme/order.ts';
import { keyOf } from '#api/object/object.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import { requesterKey, requesterOf, type RenewalRequester } from '../store/requester.ts';
import { isEnded } from './decide.ts';

/** Kinds of requests that get Orders. */
export type OrderedKind = Order['spec']['requestRef']['kind'];

/** All Orders, indexed by request. Calls of `observe` keep them up to date. */
export interface OrdersOfRequests {
  /** Records a change of an Order. Undefined: it does not exist. */
  readonly observe: (now: Order | undefined, before: Order | undefined) => void;
  /** Returns the Orders for the request with this uid. */
  readonly of: (uid: string) => readonly Order[];
  /** Returns the Orders for the request with this kind and key (`namespace/name` or a name). */
  readonly ofRequest: (kind: OrderedKind, key: string) => readonly Order[];
  /** Returns the Orders for CertificateSigningRequests, which only this program removes. */
  readonly ofCsrs: () => readonly Order[];
  /** Returns the Orders of one requester. */
  readonly ofRequester: (requester: RenewalRequester) => readonly Order[];
  /**
   * Returns a number above those of all Orders for requests of this name, and of remembered deleted
   * ones.
   */
  readonly nextAttempt: (namespace: string, requestName: string) => number;
  /** Reports whether a user deleted the newest Order of the request with this uid. */
  readonly wasDeleted: (uid: string) => boolean;
  /** Marks our own deletion, which requests no other Order. */
  readonly removing: (order: Order) => void;
  /** Records a new Order, which satisfies an earlier deletion by a user. */
  readonly created: (order: Order) => void;
  /** Calls the listener with each Order that ended or was deleted. */
  readonly onEnd: (listener: (order: Order) => void) => void;
}

/** Limit on remembered deletions, some hundred bytes each. */
const MAX_REMEMBERED = 20_000;

type Group = Map<string, Map<string, Order>>;

interface Index {
  readonly byUid: Group;
  readonly byRequest: Group;
  readonly byRequester: Group;
  /** Orders by the name of their request of either kind. Their own names begin with it. */
  readonly byName: Group;
  /** Highest numbers of deleted Orders, by the name of the request. */
  readonly deletedAttempts: BoundedMap<string, number>;
  readonly deleted: BoundedMap<string, true>;
  /** uids of Orders that this program deletes. */
  readonly ours: BoundedMap<string, true>;
  readonly listeners: ((order: Order) => void)[];
}

/** Creates an empty index. */
export function createOrdersOfRequests(): OrdersOfRequests {
  const index: Index = {
    byUid: new Map(),
    byRequest: new Map(),
    byRequester: new Map(),
    byName: new Map(),
    deletedAttempts: new BoundedMap(MAX_REMEMBERED),
    deleted: new BoundedMap(MAX_REMEMBERED),
    ours: new BoundedMap(MAX_REMEMBERED),
    listeners: [],
  };
  return {
    observe: (now, before) => {
      observe(index, now, before);
    },
    of: (uid) => valuesOf(index.byUid, uid),
    ofRequest: (kind, key) => valuesOf(index.byRequest, `${kind} ${key}`),
    ofCsrs: () =>
      [...index.byUid.values()]
        .flatMap((orders) => [...orders.values()])
        .filter(({ spec }) => spec.requestRef.kind === 'CertificateSigningRequest'),
    ofRequester: (requester) => valuesOf(index.byRequester, requesterKey(requester)),
    nextAttempt: (namespace, requestName) => {
      const name = `${namespace}/${requestName}`;
      const present = valuesOf(index.byName, name).map(({ spec }) => spec.attempt);
      return Math.max(index.deletedAttempts.get(name) ?? 0, ...present) + 1;
    },
    wasDeleted: (uid) => index.deleted.get(uid) === true,
    removing: ({ metadata }) => {
      index.ours.set(metadata.uid, true);
    },
    created: (order) => {
      index.deleted.delete(order.spec.requestRef.uid);
    },
    onEnd: (listener) => {
      index.listeners.push(listener);
    },
  };
}

function observe(index: Index, now: Order | undefined, before: Order | undefined): void {
  if (before !== undefined) forget(index, before, now === undefined);
  if (now !== undefined) remember(index, now);
  const hasChanged = now === undefined ? before !== undefined : hasEnded(now) && !hasEnded(before);
  const order = now ?? before;
  if (!hasChanged || order === undefined) return;
  for (const listener of index.listeners) listener(order);
}

function forget(index: Index, order: Order, isDeleted: boolean): void {
  if (isDeleted) noteDeletion(index, order);
  for (const [group, keyIn] of groupsOf(index)) drop(group, keyIn(order), order);
}

function remember(index: Index, order: Order): void {
  for (const [group, keyIn] of groupsOf(index)) put(group, keyIn(order), order);
}

function hasEnded(order: Order | undefined): boolean {
  return order !== undefined && isEnded(order);
}

function noteDeletion(index: Index, order: Order): void {
  const { byUid, deletedAttempts, deleted, ours } = index;
  const { metadata, spec } = order;
  const name = nameKey(order);
  deletedAttempts.set(name, Math.max(deletedAttempts.get(name) ?? 0, spec.attempt));
  const others = valuesOf(byUid, spec.requestRef.uid);
  const isNewest = others.every((each) => each.spec.attempt <= spec.attempt);
  if (isNewest && ours.get(metadata.uid) !== true) deleted.set(spec.requestRef.uid, true);
  ours.delete(metadata.uid);
}

function groupsOf(
  index: Index,
): readonly (readonly [group: Group, keyIn: (order: Order) => string])[] {
  return [
    [index.byUid, ({ spec }) => spec.requestRef.uid],
    [index.byRequest, (order) => `${order.spec.requestRef.kind} ${requestKeyOf(order)}`],
    [index.byRequester, (order) => requesterKey(requesterOf(order))],
    [index.byName, nameKey],
  ];
}

/**
 * Returns the key of an Order's request: `namespace/name`, or the name of a
 * CertificateSigningRequest.
 */
export function requestKeyOf({ metadata: { namespace = '' }, spec }: Order): string {
  const { kind, name } = spec.requestRef;
  return kind === 'CertificateRequest' ? `${namespace}/${name}` : name;
}

function nameKey({ metadata: { namespace = '' }, spec }: Order): string {
  return `${namespace}/${spec.requestRef.name}`;
}

function valuesOf(group: Group, key: string): readonly Order[] {
  return [...(group.get(key)?.values() ?? [])];
}

function put(group: Group, key: string, order: Order): void {
  const orders = group.get(key) ?? new Map<string, Order>();
  group.set(key, orders.set(keyOf(order.metadata), order));
}

function drop(group: Group, key: string, order: Order): void {
  const orders = group.get(key);
  orders?.delete(keyOf(order.metadata));
  if (orders?.size === 0) group.delete(key);
}
