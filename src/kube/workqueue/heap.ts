// SPDX-License-Identifier: Apache-2.0

/** A binary heap: `shift` removes the least item. */
export interface Heap<T> {
  push(item: T): void;
  /** The least item, which stays. */
  peek(): T | undefined;
  /** Removes the least item. */
  shift(): T | undefined;
  /** Keeps the items for which `wanted` is true, in time proportional to the length. */
  retain(wanted: (item: T) => boolean): void;
  readonly length: number;
}

/** @param isLess - a strict weak order; items that are equal in it leave in any order */
export function createHeap<T>(isLess: (a: T, b: T) => boolean): Heap<T> {
  let items: T[] = [];

  function rise(item: T, from: number): void {
    let index = from;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = items[above] as T;
      if (!isLess(item, parent)) break;
      items[index] = parent;
      index = above;
    }
    items[index] = item;
  }

  function sink(item: T, from: number): void {
    let index = from;
    for (;;) {
      let below = 2 * index + 1;
      if (below >= items.length) break;
      const right = below + 1;
      if (right < items.length && isLess(items[right] as T, items[below] as T)) below = right;
      const child = items[below] as T;
      if (!isLess(child, item)) break;
      items[index] = child;
      index = below;
    }
    items[index] = item;
  }

  return {
    push: (item) => {
      items.push(item);
      rise(item, items.length - 1);
    },
    peek: () => items[0],
    shift: () => {
      const [least] = items;
      const last = items.pop();
      if (items.length > 0) sink(last as T, 0);
      return least;
    },
    retain: (wanted) => {
      items = items.filter(wanted);
      for (let index = (items.length >> 1) - 1; index >= 0; index -= 1) {
        sink(items[index] as T, index);
      }
    },
    get length() {
      return items.length;
    },
  };
}
