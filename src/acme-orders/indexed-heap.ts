// SPDX-License-Identifier: Apache-2.0

/**
 * Elements in order, the least first: a binary heap that knows where its elements are. Each is there once; each change
 * takes a logarithm of steps.
 */
export class IndexedHeap<T> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #elements: T[] = [];
  readonly #places = new Map<T, number>();

  /** @param isBefore - a strict total order */
  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#elements.length;
  }

  /** The least. */
  peek(): T | undefined {
    return this.#elements[0];
  }

  /** Adds an element, or moves it where its order has changed. */
  set(element: T): void {
    this.#settle(element, this.#places.get(element) ?? this.#elements.length);
  }

  delete(element: T): void {
    const place = this.#places.get(element);
    if (place === undefined) return;
    this.#places.delete(element);
    const last = this.#elements.pop() as T;
    if (last !== element) this.#settle(last, place);
  }

  /** Puts an element at a place that is free, or its own, and then where it belongs. */
  #settle(element: T, place: number): void {
    const risen = this.#rise(element, place);
    if (risen === place) this.#sink(element, place);
  }

  #rise(element: T, from: number): number {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.#elements[parent] as T;
      if (!this.#isBefore(element, above)) break;
      this.#put(above, index);
      index = parent;
    }
    this.#put(element, index);
    return index;
  }

  #sink(element: T, from: number): void {
    let index = from;
    for (;;) {
      const least = this.#leastChild(index);
      if (least === undefined) break;
      const below = this.#elements[least] as T;
      if (!this.#isBefore(below, element)) break;
      this.#put(below, index);
      index = least;
    }
    this.#put(element, index);
  }

  #leastChild(index: number): number | undefined {
    const left = 2 * index + 1;
    const right = left + 1;
    if (left >= this.#elements.length) return undefined;
    if (right >= this.#elements.length) return left;
    const [first, second] = [this.#elements[left] as T, this.#elements[right] as T];
    return this.#isBefore(second, first) ? right : left;
  }

  #put(element: T, index: number): void {
    this.#elements[index] = element;
    this.#places.set(element, index);
  }
}
