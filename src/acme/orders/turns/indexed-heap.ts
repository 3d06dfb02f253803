// SPDX-License-Identifier: Apache-2.0

/**
 * A binary heap that knows the places of its elements, least first. Each element occurs once. A
 * change takes logarithmic time.
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

  /** Returns all elements, unordered. */
  values(): readonly T[] {
    return this.#elements;
  }

  /** Returns the least element. */
  peek(): T | undefined {
    return this.#elements[0];
  }

  /**
   * Returns the least element of a heap that has some.
   *
   * @throws RangeError if it has none
   */
  least(): T {
    if (this.#elements.length === 0) throw new RangeError('empty heap');
    return this.#at(0);
  }

  /** Adds an element, or moves it after its order changed. */
  set(element: T): void {
    this.#settle(element, this.#places.get(element) ?? this.#elements.length);
  }

  delete(element: T): void {
    const place = this.#places.get(element);
    if (place === undefined) return;
    this.#places.delete(element);
    const last = this.#at(this.#elements.length - 1);
    this.#elements.length -= 1;
    if (last !== element) this.#settle(last, place);
  }

  /** Puts an element at a free place, or its own, and then moves it to its order. */
  #settle(element: T, place: number): void {
    const risen = this.#rise(element, place);
    if (risen === place) this.#sink(element, place);
  }

  #rise(element: T, from: number): number {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.#at(parent);
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
      const below = this.#at(least);
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
    return this.#isBefore(this.#at(right), this.#at(left)) ? right : left;
  }

  #at(index: number): T {
    // Each caller passes an index below the length.
    return this.#elements[index] as T;
  }

  #put(element: T, index: number): void {
    this.#elements[index] = element;
    this.#places.set(element, index);
  }
}
