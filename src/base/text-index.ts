// SPDX-License-Identifier: Apache-2.0

/**
 * Objects indexed by a text of each, updated by watch events (client-go: an Indexer with one
 * index).
 */
export class TextIndex<T> {
  readonly #textOf: (object: T) => string;
  readonly #groups = new Map<string, Map<string, T>>();

  constructor(textOf: (object: T) => string) {
    this.#textOf = textOf;
  }

  readonly get = (text: string): readonly T[] => [...(this.#groups.get(text)?.values() ?? [])];

  change(key: string, now: T | undefined, before: T | undefined): void {
    if (before !== undefined) {
      const text = this.#textOf(before);
      const group = this.#groups.get(text);
      group?.delete(key);
      if (group?.size === 0) this.#groups.delete(text);
    }
    if (now === undefined) return;
    const group = this.#groups.get(this.#textOf(now)) ?? new Map<string, T>();
    this.#groups.set(this.#textOf(now), group.set(key, now));
  }
}
