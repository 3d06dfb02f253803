// SPDX-License-Identifier: Apache-2.0
import type { Order } from '#api/acme/order.ts';
import { keyOf } from '#api/object/object.ts';
import { leafOf } from '../store/leaf.ts';
import { requesterKey, requesterOf } from '../store/requester.ts';

/** Tracks the newest certificate of each requester. Calls of `observe` keep it up to date. */
export class NewestLeaves {
  /** Start of each certificate by the key of its Order, by requester. */
  readonly #requesters = new Map<string, Map<string, number>>();

  /** @returns keys of Orders whose replacement state may change */
  observe(key: string, now: Order | undefined, before: Order | undefined): readonly string[] {
    const requester = now && requesterKey(requesterOf(now));
    const former = before && requesterKey(requesterOf(before));
    // A user may have changed the annotation that names the requester.
    const left = former === undefined || former === requester ? [] : this.#set(former, key);
    if (requester === undefined) return left;
    const entered = this.#set(requester, key, now && leafOf(now)?.notBefore);
    return [...new Set([...left, ...entered])];
  }

  /** Reports whether the requester has a newer certificate. */
  isReplaced(order: Order): boolean {
    const leaves = this.#requesters.get(requesterKey(requesterOf(order)));
    const key = keyOf(order.metadata);
    const own = leaves?.get(key);
    if (leaves === undefined || own === undefined) return false;
    return [...leaves].some(([other, begins]) => begins > own || (begins === own && other > key));
  }

  /**
   * Sets the start of the certificate of an Order, or forgets it.
   *
   * @returns keys of Orders whose replacement state may change
   */
  #set(requester: string, key: string, begins?: number): readonly string[] {
    const leaves = this.#requesters.get(requester) ?? new Map<string, number>();
    if (begins === leaves.get(key)) return begins === undefined ? [] : [key];
    if (begins === undefined) leaves.delete(key);
    else leaves.set(key, begins);
    if (leaves.size === 0) this.#requesters.delete(requester);
    else this.#requesters.set(requester, leaves);
    return [...new Set([key, ...leaves.keys()])];
  }
}
