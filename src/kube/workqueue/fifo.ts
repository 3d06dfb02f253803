// SPDX-License-Identifier: Apache-2.0

/** First in, first out, in constant time: `shift` of a long array moves all that is behind it. */
export interface Fifo<T> {
  push(item: T): void;
  /** The first, which stays. */
  peek(): T | undefined;
  shift(): T | undefined;
  /** Keeps those only for which it is true, in time proportional to all. */
  retain(wanted: (item: T) => boolean): void;
  readonly length: number;
}

/** Taken places are given back once there are so many, and they are half of all. */
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
