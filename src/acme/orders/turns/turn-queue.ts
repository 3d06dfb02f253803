// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '#base/bounded-map.ts';
import { IndexedHeap } from './indexed-heap.ts';

/** A waiting item and its namespace. */
interface OfNamespace {
  readonly namespace: string;
}

interface NamespaceQueue<T> {
  readonly namespace: string;
  /** Number of its last turn, or a later one that it comes after. 0: never. */
  servedAt: number;
  readonly items: IndexedHeap<T>;
}

/** Limit on idle namespaces whose last turn is remembered. */
const MAX_SERVED = 10_000;

/**
 * Items that wait for one thing. Namespaces take turns: the one that waited longest since its last
 * turn comes first, with its own first item.
 */
export class TurnQueue<T extends OfNamespace> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #namespaces = new Map<string, NamespaceQueue<T>>();
  readonly #order: IndexedHeap<NamespaceQueue<T>>;
  readonly #remembered = new BoundedMap<string, number>(MAX_SERVED);
  #turns = 0;

  /** @param isBefore - orders the items of one namespace by a strict total order */
  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
    this.#order = new IndexedHeap((a, b) =>
      a.servedAt === b.servedAt
        ? isBefore(a.items.least(), b.items.least())
        : a.servedAt < b.servedAt,
    );
  }

  /** Number of waiting namespaces. */
  get size(): number {
    return this.#namespaces.size;
  }

  peek(): T | undefined {
    return this.#order.peek()?.items.peek();
  }

  add(item: T): void {
    const { namespace } = item;
    const found = this.#namespaces.get(namespace);
    const waiting = found ?? {
      namespace,
      servedAt: this.#servedAt(namespace),
      items: new IndexedHeap(this.#isBefore),
    };
    this.#order.delete(waiting);
    waiting.items.set(item);
    this.#namespaces.set(namespace, waiting);
    this.#order.set(waiting);
  }

  delete(item: T): void {
    const waiting = this.#namespaces.get(item.namespace);
    if (waiting === undefined) return;
    this.#order.delete(waiting);
    waiting.items.delete(item);
    if (waiting.items.size > 0) this.#order.set(waiting);
    else this.#namespaces.delete(item.namespace);
  }

  /** Reports whether a waiting item comes before this one. */
  hasBefore(item: T): boolean {
    const first = this.peek();
    if (first === undefined) return false;
    const [one, other] = [this.#servedAt(first.namespace), this.#servedAt(item.namespace)];
    return one === other ? this.#isBefore(first, item) : one < other;
  }

  /**
   * Records a turn of the namespace.
   *
   * @param others - number of later turns that come before its next one, if others wait
   */
  serve(namespace: string, others = 0): void {
    this.#turns += 1;
    const servedAt = this.#turns + others;
    this.#remembered.set(namespace, servedAt);
    const waiting = this.#namespaces.get(namespace);
    if (waiting === undefined) return;
    this.#order.delete(waiting);
    waiting.servedAt = servedAt;
    this.#order.set(waiting);
  }

  #servedAt(namespace: string): number {
    return this.#namespaces.get(namespace)?.servedAt ?? this.#remembered.get(namespace) ?? 0;
  }
}
