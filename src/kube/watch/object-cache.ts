// SPDX-License-Identifier: Apache-2.0
import { createStore, type OnChange } from '../resource/store.ts';
import type { WatchEvent } from './watch-event.ts';
import { isNewer, objectKey, type StoredObject } from '../resource/object.ts';

/**
 * Caches the objects of one collection from its lists, its watch and this process's own writes: the
 * reflector without the network.
 *
 * Events come in the order of their resourceVersions, with two exceptions. The initial events of a
 * watch-list have no order. The response to an own write may arrive before its watch event. Such a
 * write is remembered until the watch has caught up with it (as in KEP-5647). Until then no older
 * state of that object is cached, even if the object itself is not kept.
 */
export interface ObjectCache<T> {
  /** The version from which the next watch continues. Undefined when a full list is due. */
  readonly resourceVersion: string | undefined;
  /** True once one full list is complete. */
  readonly synced: boolean;
  get(key: string): T | undefined;
  values(): readonly T[];
  /** Begins a full list, and discards an unfinished one. */
  beginList(): void;
  /** Adds one object of a paged list. */
  addListed(object: T): void;
  /** Completes the list at `resourceVersion`, and removes objects that were not in it. */
  completeList(resourceVersion: string): void;
  /**
   * Applies an event.
   *
   * @returns false if the event is older than its predecessor, which no watch sends. The event is
   *   dropped, and the caller must list again because others may have been lost.
   */
  apply(event: WatchEvent<T>): boolean;
  /** Makes a full list due, because the server no longer knows `resourceVersion`. */
  invalidate(): void;
  /** Applies the response to an own write. */
  applyWrite(object: T): void;
  /** Reports every object as if it had changed. */
  resync(): void;
  /** Removes every object, because the collection is no longer watched. */
  clear(): void;
}

/**
 * Creates an empty cache of one collection.
 *
 * @param reduce - returns the object to cache, or undefined to cache none
 */
export function createObjectCache<T extends StoredObject>(
  reduce: (object: T) => T | undefined,
  onChange: OnChange<T>,
): ObjectCache<T> {
  return new CollectionCache(reduce, onChange);
}

class CollectionCache<T extends StoredObject> implements ObjectCache<T> {
  resourceVersion: string | undefined;
  synced = false;
  readonly #store;
  /** Keys of the list in progress. Undefined while watching. */
  #listed: Set<string> | undefined;
  /** Key → resourceVersion of an own write, until the watch has passed it. */
  readonly #ahead = new Map<string, string>();

  constructor(reduce: (object: T) => T | undefined, onChange: OnChange<T>) {
    this.#store = createStore(reduce, onChange);
  }

  get(key: string): T | undefined {
    return this.#store.get(key);
  }

  values(): readonly T[] {
    return this.#store.values();
  }

  beginList(): void {
    this.resourceVersion = undefined;
    this.#listed = new Set();
  }

  addListed(object: T): void {
    const key = objectKey(object);
    this.#listed?.add(key);
    if (!this.#isOutdated(key, object)) this.#store.put(object);
  }

  completeList(resourceVersion: string): void {
    const listed = this.#listed ?? new Set();
    this.#advance(resourceVersion);
    this.#store.retain((key) => listed.has(key) || this.#ahead.has(key));
    this.#listed = undefined;
    this.synced = true;
  }

  apply(event: WatchEvent<T>): boolean {
    const isBookmark = event.type === 'bookmark';
    const version = isBookmark ? event.resourceVersion : event.object.metadata.resourceVersion;
    if (this.#listed !== undefined) this.#applyInitial(event);
    else if (isNewer(this.resourceVersion ?? '', version)) return false;
    else if (isBookmark) this.#advance(version);
    else {
      this.#change(event);
      this.resourceVersion = version;
    }
    return true;
  }

  #applyInitial(event: WatchEvent<T>): void {
    if (event.type !== 'bookmark') this.#change(event);
    else if (event.initialEnd) this.completeList(event.resourceVersion);
  }

  #change(event: Exclude<WatchEvent<T>, { type: 'bookmark' }>): void {
    if (event.type === 'put') this.addListed(event.object);
    else this.#remove(event.object);
  }

  invalidate(): void {
    this.resourceVersion = undefined;
    // After a restore of etcd even own writes may be lost.
    this.#ahead.clear();
  }

  applyWrite(object: T): void {
    const key = objectKey(object);
    const { resourceVersion } = object.metadata;
    // The watch is past that version. The store has it or a newer one, or rightly has no such
    // object.
    if (this.resourceVersion !== undefined && !isNewer(resourceVersion, this.resourceVersion))
      return;
    const known = this.#store.get(key)?.metadata.resourceVersion;
    if (known !== undefined && !isNewer(resourceVersion, known)) return;
    if (this.#isOutdated(key, object)) return;
    this.#ahead.set(key, resourceVersion);
    this.#store.put(object);
  }

  resync(): void {
    this.#store.resync();
  }

  clear(): void {
    this.resourceVersion = undefined;
    this.synced = false;
    this.#ahead.clear();
    this.#store.retain(() => false);
  }

  #remove(object: T): void {
    const key = objectKey(object);
    if (!this.#isOutdated(key, object)) this.#store.remove(key);
  }

  /**
   * Reports whether this state is older than an own write. If not, the watch has caught up with
   * that write.
   */
  #isOutdated(key: string, { metadata }: StoredObject): boolean {
    const ahead = this.#ahead.get(key);
    if (ahead === undefined) return false;
    if (isNewer(ahead, metadata.resourceVersion)) return true;
    this.#ahead.delete(key);
    return false;
  }

  #advance(resourceVersion: string): void {
    this.resourceVersion = resourceVersion;
    for (const [key, ahead] of this.#ahead) {
      if (!isNewer(ahead, resourceVersion)) this.#ahead.delete(key);
    }
  }
}
