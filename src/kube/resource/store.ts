import { type StoredObject, objectKey } from './object.ts';

/** A change as the owner of the store hears of it. */
export type OnChange<T> = (key: string, now: T | undefined, before: T | undefined) => void;

/**
 * The objects of one collection that are worth keeping. An object that was deleted and made again
 * under its name is two changes: gone, then there.
 */
export interface Store<T> {
  get(key: string): T | undefined;
  values(): readonly T[];
  readonly size: number;
  put(object: T): void;
  remove(key: string): void;
  /** Tells every object as if it had changed. */
  resync(): void;
  /** Removes every key that is not wanted: what a full list no longer has. */
  retain(wanted: (key: string) => boolean): void;
}

/**
 * @param keep - what is not worth keeping is forgotten
 * @param lean - what is kept of an object; at least its metadata's name, namespace, uid and
 * resourceVersion
 */
export function createStore<T extends StoredObject>(
  keep: (object: T) => boolean,
  onChange: OnChange<T>,
  lean: (object: T) => T = (object) => object,
): Store<T> {
  const objects = new Map<string, T>();

  function remove(key: string): void {
    const before = objects.get(key);
    if (before === undefined) return;
    objects.delete(key);
    onChange(key, undefined, before);
  }

  function put(object: T): void {
    const key = objectKey(object);
    let before = objects.get(key);
    if (before !== undefined && before.metadata.uid !== object.metadata.uid) {
      remove(key);
      before = undefined;
    }
    if (before?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    if (!keep(object)) {
      remove(key);
      return;
    }
    const kept = lean(object);
    objects.set(key, kept);
    onChange(key, kept, before);
  }

  return {
    get: (key) => objects.get(key),
    values: () => [...objects.values()],
    get size() {
      return objects.size;
    },
    put,
    remove,
    resync: () => {
      for (const [key, object] of [...objects]) onChange(key, object, object);
    },
    retain: (wanted) => {
      for (const key of [...objects.keys()]) if (!wanted(key)) remove(key);
    },
  };
}
