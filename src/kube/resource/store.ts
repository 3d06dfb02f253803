import { type StoredObject, objectKey } from './object.ts';

/** Called for each change of a store. A creation has no `before`, a deletion no `now`. */
export type OnChange<T> = (key: string, now: T | undefined, before: T | undefined) => void;

/**
 * The kept objects of one collection. An object that was deleted and created again under its name
 * is two changes: a deletion, then a creation.
 */
export interface Store<T> {
  get(key: string): T | undefined;
  values(): readonly T[];
  readonly size: number;
  put(object: T): void;
  remove(key: string): void;
  /** Reports every object as if it had changed. */
  resync(): void;
  /** Removes every unwanted key, such as those that are missing in a full list. */
  retain(wanted: (key: string) => boolean): void;
}

/**
 * Creates an empty store of one collection.
 *
 * @param reduce - returns the object to keep, or undefined to keep none. Name, namespace, uid and
 *   resourceVersion must stay.
 */
export function createStore<T extends StoredObject>(
  reduce: (object: T) => T | undefined,
  onChange: OnChange<T>,
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
    const kept = reduce(object);
    if (kept === undefined) {
      remove(key);
      return;
    }
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
