// SPDX-License-Identifier: Apache-2.0
import { createStore, type OnChange } from '../resource/store.ts';
import type { WatchEvent } from './watch-event.ts';
import { isNewer, objectKey, type StoredObject } from '../resource/object.ts';

/**
 * A collection as far as its lists, its watch and our own writes have told it: the reflector without
 * the network.
 *
 * Events come in the order of their resourceVersions, except that the initial events of a watch-list
 * are in no order, and that the answer to a write of our own may overtake its echo. Such a write is
 * remembered until the watch has caught up with it (as KEP-5647 does), so that no older state of
 * that object comes back, even of one that is no longer kept.
 */
export interface ObjectCache<T> {
  /** Where the next watch goes on; undefined: a full list is due. */
  readonly resourceVersion: string | undefined;
  /** True once one full list is complete. */
  readonly synced: boolean;
  get(key: string): T | undefined;
  values(): readonly T[];
  /** A full list begins; what an unfinished one gathered is void. */
  beginList(): void;
  /** One object of a paged list. */
  addListed(object: T): void;
  /** The list is whole as of `resourceVersion`: what was not in it is gone. */
  completeList(resourceVersion: string): void;
  /**
   * @returns false where it is older than what came before, which no watch sends: then nothing of it
   * was taken, and what else has been lost only a new list can tell
   */
  apply(event: WatchEvent<T>): boolean;
  /** The server no longer knows `resourceVersion`. */
  invalidate(): void;
  /** The answer to a write of our own. */
  applyWrite(object: T): void;
  /** Tells every object as if it had changed. */
  resync(): void;
  /** Everything is gone: the collection is watched no longer. */
  clear(): void;
}

export function createObjectCache<T extends StoredObject>(
  keep: (object: T) => boolean,
  onChange: OnChange<T>,
  lean?: (object: T) => T,
): ObjectCache<T> {
  return new CollectionMirror(keep, onChange, lean);
}

class CollectionMirror<T extends StoredObject> implements ObjectCache<T> {
  resourceVersion: string | undefined;
  synced = false;
  readonly #store;
  /** Keys of the list that is under way; undefined while watching. */
  #listed: Set<string> | undefined;
  /** Key → resourceVersion of our own write, until the watch has passed it. */
  readonly #ahead = new Map<string, string>();

  constructor(keep: (object: T) => boolean, onChange: OnChange<T>, lean?: (object: T) => T) {
    this.#store = createStore(keep, onChange, lean);
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
    this.#passed(resourceVersion);
    this.#store.retain((key) => listed.has(key) || this.#ahead.has(key));
    this.#listed = undefined;
    this.synced = true;
  }

  apply(event: WatchEvent<T>): boolean {
    const isBookmark = event.type === 'bookmark';
    const version = isBookmark ? event.resourceVersion : event.object.metadata.resourceVersion;
    if (this.#listed !== undefined) this.#takeInitial(event);
    else if (isNewer(this.resourceVersion ?? '', version)) return false;
    else if (isBookmark) this.#passed(version);
    else {
      this.#change(event);
      this.resourceVersion = version;
    }
    return true;
  }

  #takeInitial(event: WatchEvent<T>): void {
    if (event.type !== 'bookmark') this.#change(event);
    else if (event.initialEnd) this.completeList(event.resourceVersion);
  }

  #change(event: Exclude<WatchEvent<T>, { type: 'bookmark' }>): void {
    if (event.type === 'put') this.addListed(event.object);
    else this.#remove(event.object);
  }

  invalidate(): void {
    this.resourceVersion = undefined;
    // After a restore of etcd even our own writes may never have been.
    this.#ahead.clear();
  }

  applyWrite(object: T): void {
    const key = objectKey(object);
    const { resourceVersion } = object.metadata;
    // The watch has passed that moment: the store is as new, or rightly knows it no more.
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

  /** Whether a write of our own has overtaken this state; when not, the watch has caught up. */
  #isOutdated(key: string, { metadata }: StoredObject): boolean {
    const ahead = this.#ahead.get(key);
    if (ahead === undefined) return false;
    if (isNewer(ahead, metadata.resourceVersion)) return true;
    this.#ahead.delete(key);
    return false;
  }

  #passed(resourceVersion: string): void {
    this.resourceVersion = resourceVersion;
    for (const [key, ahead] of this.#ahead) {
      if (!isNewer(ahead, resourceVersion)) this.#ahead.delete(key);
    }
  }
}
