// SPDX-License-Identifier: Apache-2.0

/** A binary heap: `shift` removes the least item. */
export interface Heap<T> {
  push(item: T): void;
  /** Returns the least item, which stays. */
  peek(): T | undefined;
  /** Removes the least item. */
  shift(): T | undefined;
  /** Keeps the items for which `wanted` is true, in time proportional to the length. */
  retain(wanted: (item: T) => boolean): void;
  readonly length: number;
}

/** @param isLess - a strict weak order. Equal items leave in any order. */
export function createHeap<T>(isLess: (a: T, b: T) => boolean): Heap<T> {
  let items: T[] = [];

  function at(index: number): T {
    // Each caller passes an index below the length.
    return items[index] as T;
  }

  function rise(item: T, from: number): void {
    let index = from;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = at(above);
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
      if (right < items.length && isLess(at(right), at(below))) below = right;
      const child = at(below);
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
      if (items.length <= 1) {
        items = [];
        return least;
      }
      const last = at(items.length - 1);
      items.length -= 1;
      sink(last, 0);
      return least;
    },
    retain: (wanted) => {
      items = items.filter(wanted);
      for (let index = (items.length >> 1) - 1; index >= 0; index -= 1) {
        sink(at(index), index);
      }
    },
    get length() {
      return items.length;
    },
  };
}
