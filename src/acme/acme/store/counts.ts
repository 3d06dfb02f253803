// SPDX-License-Identifier: Apache-2.0
import type { AcmeCache } from './cache.ts';

/** Keeps a gauge by state equal to a cache. */
export function countStates<T>(
  cache: AcmeCache<T>,
  stateOf: (object: T) => string,
  set: (state: string, count: number) => void,
): void {
  const counts = new Map<string, number>();
  const add = (object: T | undefined, difference: number): void => {
    if (object === undefined) return;
    const state = stateOf(object);
    const count = (counts.get(state) ?? 0) + difference;
    counts.set(state, count);
    set(state, count);
  };
  cache.onEvent((_key, now, before) => {
    if (now === before) return;
    add(before, -1);
    add(now, 1);
  });
}
