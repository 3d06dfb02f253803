// SPDX-License-Identifier: Apache-2.0

/**
 * A map with at most `limit` entries. A new key beyond the limit evicts the entry that was set
 * first. Reads do not change the order. Setting a key again makes it the newest.
 *
 * Use it for caches whose keys other people choose. Memory stays bounded, and an evicted entry is
 * computed again.
 */
export class BoundedMap<K, V> {
  readonly #limit: number;
  readonly #entries = new Map<K, V>();
  /**
   * Iterator at the oldest entries, while each `set` evicts one. A new iterator for each eviction
   * would walk over all entries deleted since the table was last compacted. An iterator kept
   * without evictions would keep every outgrown table of the map in memory.
   */
  #oldest: MapIterator<K> | undefined;

  /** @param limit - number of entries to keep, at least 1 */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** Returns the entries, the oldest first. */
  entries(): MapIterator<[K, V]> {
    return this.#entries.entries();
  }

  /**
   * Adds or replaces an entry, as the newest.
   *
   * @returns the evicted value, if any
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

  /** Removes the oldest entry. @returns its value, or undefined if the map is empty */
  evict(): V | undefined {
    this.#oldest ??= this.#entries.keys();
    const next = this.#oldest.next();
    if (next.done === true) return undefined;
    const evicted = this.#entries.get(next.value);
    this.#entries.delete(next.value);
    return evicted;
  }
}
