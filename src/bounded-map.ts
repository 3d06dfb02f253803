// SPDX-License-Identifier: Apache-2.0

/**
 * A map with at most `limit` entries: a new key beyond that evicts the entry that was set first.
 * Reads do not change the order; setting a key again makes it the newest.
 *
 * For caches whose keys others choose: memory stays bounded, and an evicted entry is computed again.
 */
export class BoundedMap<K, V> {
  readonly #limit: number;
  readonly #entries = new Map<K, V>();
  /**
   * Where the oldest entries are, while each `set` evicts one. An iterator made for each eviction would
   * walk over all entries that were deleted since the table was last compacted; one that is kept while
   * nothing is evicted would keep every table that the map has outgrown in memory.
   */
  #oldest: MapIterator<K> | undefined;

  /** @param limit - how many entries are kept, at least 1 */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** Those that are there, the oldest first. */
  entries(): MapIterator<[K, V]> {
    return this.#entries.entries();
  }

  /**
   * Adds or replaces an entry, as the newest.
   *
   * @returns what had to go for it, where there were too many
   */
  set(key: K, value: V): V | undefined {
    this.#entries.delete(key);
    let evicted: V | undefined;
    if (this.#entries.size >= this.#limit) evicted = this.evict();
    else this.#oldest = undefined;
    this.#entries.set(key, value);
    return evicted;
  }

  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  /** Drops the oldest entry. @returns it; undefined where there is none */
  evict(): V | undefined {
    this.#oldest ??= this.#entries.keys();
    const next = this.#oldest.next();
    if (next.done === true) return undefined;
    const evicted = this.#entries.get(next.value);
    this.#entries.delete(next.value);
    return evicted;
  }
}
