// SPDX-License-Identifier: Apache-2.0

/**
 * A queue with `shift` in constant time. `shift` of a long array moves all items behind the first.
 */
export interface Fifo<T> {
  push(item: T): void;
  /** Returns the first item, which stays. */
  peek(): T | undefined;
  shift(): T | undefined;
  /** Keeps the items for which `wanted` is true, in time proportional to the length. */
  retain(wanted: (item: T) => boolean): void;
  readonly length: number;
}

/** Slots before the head are freed when they are this many, and half of all slots. */
const COMPACT_AT = 1_024;

export function createFifo<T>(): Fifo<T> {
  let items: (T | undefined)[] = [];
  let head = 0;
  return {
    push: (item) => {
      items.push(item);
    },
    peek: () => items[head],
    retain: (wanted) => {
      // Places from the head on are filled.
      items = items.slice(head).filter((item) => wanted(item as T));
      head = 0;
    },
    shift: () => {
      if (head === items.length) return undefined;
      const item = items[head];
      items[head] = undefined;
      head += 1;
      if (head >= COMPACT_AT && head * 2 >= items.length) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
    get length() {
      return items.length - head;
    },
  };
}
