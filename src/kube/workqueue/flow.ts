// SPDX-License-Identifier: Apache-2.0
import { createFifo } from './fifo.ts';

/** One item in every flow that it is of; whichever has its turn first hands it out. */
export interface Entry<T> {
  readonly item: T;
  readonly flows: readonly Flow<T>[];
  /** Milliseconds; undefined: it is not urgent. */
  readonly deadline: number | undefined;
  taken: boolean;
}

/** What waits in one line, first in, first out. */
export interface Flow<T> {
  readonly name: string;
  /** How many wait; those that another flow handed out count no more. */
  readonly waiting: number;
  /** How many it holds, handed out or not. */
  readonly held: number;
  push(entry: Entry<T>): void;
  /** The first that waits; undefined when none does. */
  first(): Entry<T> | undefined;
  /** One of its entries was handed out, by this flow or by another. */
  left(): void;
}

/** Handed-out entries are cleared away once there are so many more of them than of others. */
const CLEAR_AT = 64;

export function createFlow<T>(name: string): Flow<T> {
  const line = createFifo<Entry<T>>();
  let waiting = 0;

  function first(): Entry<T> | undefined {
    let entry = line.peek();
    while (entry?.taken === true) {
      line.shift();
      entry = line.peek();
    }
    return entry;
  }

  return {
    name,
    get waiting() {
      return waiting;
    },
    get held() {
      return line.length;
    },
    push: (entry) => {
      line.push(entry);
      waiting += 1;
    },
    first,
    left: () => {
      waiting -= 1;
      if (line.length > 2 * waiting + CLEAR_AT) line.retain(({ taken }) => !taken);
    },
  };
}
