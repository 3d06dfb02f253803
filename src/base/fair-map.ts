// SPDX-License-Identifier: Apache-2.0

/** Minimum interval between two searches for expired entries, each of which reads all entries. */
const SWEEP_INTERVAL_MS = 60_000;

/** An entry, in the list of its tenant's entries by age. */
interface Entry<V> {
  readonly key: string;
  readonly value: V;
  readonly weight: number;
  readonly tenant: string;
  older: Entry<V> | undefined;
  newer: Entry<V> | undefined;
}

/** The tenant of an entry, and its weight, at most the limit. `now` in milliseconds. */
interface EntryOptions {
  readonly tenant: string;
  readonly weight?: number;
  readonly now?: number;
}

interface Tenant<V> {
  weight: number;
  oldest: Entry<V> | undefined;
  newest: Entry<V> | undefined;
}

/**
 * A map whose entries have at most `limit` weight together. Beyond the limit, expired entries go
 * first. Then the tenant with the most weight loses its oldest entry. So a flood from one tenant
 * evicts no entries of smaller tenants.
 *
 * Use it for what a component remembers of objects that many tenants create. An eviction looks at
 * each tenant once.
 */
export class FairMap<V> {
  readonly #limit: number;
  readonly #endOf: ((value: V) => number) | undefined;
  readonly #entries = new Map<string, Entry<V>>();
  readonly #tenants = new Map<string, Tenant<V>>();
  #weight = 0;
  #sweptAt = -Infinity;

  /**
   * @param limit - of the weights together, in the caller's unit
   * @param endOf - returns when a value expires, in milliseconds since the epoch. Default: never
   */
  constructor(limit: number, endOf?: (value: V) => number) {
    this.#limit = limit;
    this.#endOf = endOf;
  }

  /** The number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Returns the keys and values, the oldest first. */
  *entries(): Generator<[string, V]> {
    for (const [key, { value }] of this.#entries) yield [key, value];
  }

  /**
   * Adds or replaces an entry, as the newest.
   *
   * @returns the evicted values, which may be this one
   */
  set(key: string, value: V, { tenant, weight = 1, now = 0 }: EntryOptions): readonly V[] {
    this.delete(key);
    const of = this.#tenants.get(tenant) ?? { weight: 0, oldest: undefined, newest: undefined };
    this.#tenants.set(tenant, of);
    const entry: Entry<V> = { key, value, weight, tenant, older: of.newest, newer: undefined };
    if (of.newest === undefined) of.oldest = entry;
    else of.newest.newer = entry;
    of.newest = entry;
    of.weight += weight;
    this.#entries.set(key, entry);
    this.#weight += weight;
    const evicted = this.#weight > this.#limit ? this.#sweep(now) : [];
    while (this.#weight > this.#limit) evicted.push(this.#remove(this.#nextOut(entry, of)));
    return evicted;
  }

  /** Removes an entry. @returns its value, or undefined if there is none */
  delete(key: string): V | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined ? undefined : this.#remove(entry);
  }

  /** Removes the expired entries. @returns their values */
  #sweep(now: number): V[] {
    const endOf = this.#endOf;
    // A clock that was set back must not prolong this.
    const isSoon = Math.abs(now - this.#sweptAt) < SWEEP_INTERVAL_MS;
    if (endOf === undefined || isSoon) return [];
    this.#sweptAt = now;
    const expired = [...this.#entries.values()].filter(({ value }) => endOf(value) <= now);
    return expired.map((entry) => this.#remove(entry));
  }

  /**
   * Returns the oldest entry of the tenant with the most weight. Among equals, it prefers the
   * tenant of the newest entry.
   */
  #nextOut(newest: Entry<V>, its: Tenant<V>): Entry<V> {
    let most = its;
    for (const each of this.#tenants.values()) if (each.weight > most.weight) most = each;
    return most.oldest ?? newest;
  }

  #remove(entry: Entry<V>): V {
    const { key, value, weight, tenant, older, newer } = entry;
    this.#entries.delete(key);
    this.#weight -= weight;
    if (older !== undefined) older.newer = newer;
    if (newer !== undefined) newer.older = older;
    const of = this.#tenants.get(tenant);
    if (of === undefined) return value;
    of.weight -= weight;
    if (of.oldest === entry) of.oldest = newer;
    if (of.newest === entry) of.newest = older;
    if (of.oldest === undefined) this.#tenants.delete(tenant);
    return value;
  }
}
