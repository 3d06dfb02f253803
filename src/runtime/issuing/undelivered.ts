// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../../bounded-map.ts';

/** What was signed and may or may not have been delivered, by the key of its request. */
export interface Undelivered<T> {
  readonly get: (key: string) => T | undefined;
  readonly set: (key: string, signed: T) => void;
  readonly delete: (key: string) => void;
}

/**
 * Some three KiB each. Beyond, the oldest is forgotten: its request may be signed once more when its
 * turn comes, and the fence of the write lets one of both through. An API server that takes no write
 * must not fill our memory with what it does not take.
 */
export const MAX_UNDELIVERED = 10_000;

export function createUndelivered<T>(): Undelivered<T> {
  const all = new BoundedMap<string, T>(MAX_UNDELIVERED);
  return {
    get: (key) => all.get(key),
    set: (key, signed) => {
      all.set(key, signed);
    },
    delete: (key) => {
      all.delete(key);
    },
  };
}
