// SPDX-License-Identifier: Apache-2.0

/** Numbers that look random and are the same in every run (mulberry32). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** From 0 to less than `sides`. */
  roll(sides: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * sides);
  }

  of<T>(all: readonly T[]): T {
    const found = all[this.roll(all.length)];
    if (found === undefined) throw new Error('there is nothing to choose from');
    return found;
  }
}
