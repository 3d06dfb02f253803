// SPDX-License-Identifier: Apache-2.0
import type { Order } from '../../../api/acme/index.ts';
import { keyOf } from '../../../api/object/object.ts';
import { BoundedMap } from '../../../bounded-map.ts';
import { requesterKey, requesterOf, type RenewalRequester } from '../store/requester.ts';
import { isEnded } from './decide.ts';

/** Kinds of requests that Orders are made for. */
export type OrderedKind = Order['spec']['requestRef']['kind'];

/** The Orders of the cluster by what they are for, kept up to date by `observe`. */
export interface OrdersOfRequests {
  /** The Order `namespace/name` is `now`, and was `before`; undefined: it is not there. */
  readonly observe: (now: Order | undefined, before: Order | undefined) => void;
  /** Those for the request with this uid. */
  readonly of: (uid: string) => readonly Order[];
  /** Those for the request of a kind with this key, `namespace/name` or a name. */
  readonly ofRequest: (kind: OrderedKind, key: string) => readonly Order[];
  /** Those for CertificateSigningRequests, which nothing but us removes. */
  readonly ofCsrs: () => readonly Order[];
  /** Those of one requester. */
  readonly ofRequester: (requester: RenewalRequester) => readonly Order[];
  /** A number that no Order for a request of this name has, or had since this process began. */
  readonly nextAttempt: (namespace: string, requestName: string) => number;
  /** Whether somebody else deleted the newest Order of the request with this uid. */
  readonly wasDeleted: (uid: string) => boolean;
  /** We delete it ourselves: that asks for no other one. */
  readonly removing: (order: Order) => void;
  /** The request got another Order: who deleted the one before has what they wanted. */
  readonly created: (order: Order) => void;
  /** Calls the listener with each Order that ended or was deleted. */
  readonly onEnd: (listener: (order: Order) => void) => void;
}

/** Requests whose newest Order somebody deleted, and names whose attempts are counted: some hundred bytes each. */
const MAX_REMEMBERED = 20_000;

type Group = Map<string, Map<string, Order>>;

interface Index {
  readonly byUid: Group;
  readonly byRequest: Group;
  readonly byRequester: Group;
  readonly attempts: BoundedMap<string, number>;
  readonly deleted: BoundedMap<string, true>;
  /** uids of Orders that we delete. */
  readonly ours: BoundedMap<string, true>;
  readonly listeners: ((order: Order) => void)[];
}

/** No Order yet. */
export function createOrdersOfRequests(): OrdersOfRequests {
  const index: Index = {
    byUid: new Map(),
    byRequest: new Map(),
    byRequester: new Map(),
    attempts: new BoundedMap(MAX_REMEMBERED),
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
    nextAttempt: (namespace, requestName) =>
      (index.attempts.get(`${namespace}/${requestName}`) ?? 0) + 1,
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
  const isNews = now === undefined ? before !== undefined : hasEnded(now) && !hasEnded(before);
  const order = now ?? before;
  if (!isNews || order === undefined) return;
  for (const listener of index.listeners) listener(order);
}

function forget(index: Index, order: Order, isDeleted: boolean): void {
  if (isDeleted) noteDeletion(index, order);
  for (const [group, keyIn] of groupsOf(index)) drop(group, keyIn(order), order);
}

function remember(index: Index, order: Order): void {
  for (const [group, keyIn] of groupsOf(index)) put(group, keyIn(order), order);
  const name = nameKey(order);
  index.attempts.set(name, Math.max(index.attempts.get(name) ?? 0, order.spec.attempt));
}

function hasEnded(order: Order | undefined): boolean {
  return order !== undefined && isEnded(order);
}

function noteDeletion({ byUid, deleted, ours }: Index, { metadata, spec }: Order): void {
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
  ];
}

/** The key of the request that an Order is for: `namespace/name`, or the name of a CertificateSigningRequest. */
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
