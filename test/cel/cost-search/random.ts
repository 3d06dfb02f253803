// SPDX-License-Identifier: Apache-2.0

/** Numbers from 0 to `below`, each run the same: mulberry32. */
export type Pick = (below: number) => number;

export function picks(seed: number): Pick {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export function oneOf<T>(pick: Pick, items: readonly T[]): T {
  const item = items[pick(items.length)];
  if (item === undefined) throw new RangeError('nothing to pick from');
  return item;
}
