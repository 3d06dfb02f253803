// SPDX-License-Identifier: Apache-2.0

/** Counts the objects of each namespace up to a limit. Keys are `namespace/name`. */
export class NamespaceCount {
  readonly #most: number;
  readonly #counted = new Map<string, Set<string>>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Reports whether the object is counted, or can be. */
  hasRoom(key: string): boolean {
    const keys = this.#counted.get(namespaceOf(key));
    return keys === undefined || keys.has(key) || keys.size < this.#most;
  }

  add(key: string): void {
    const namespace = namespaceOf(key);
    this.#counted.set(namespace, (this.#counted.get(namespace) ?? new Set()).add(key));
  }

  remove(key: string): void {
    const namespace = namespaceOf(key);
    const keys = this.#counted.get(namespace);
    keys?.delete(key);
    if (keys?.size === 0) this.#counted.delete(namespace);
  }
}

function namespaceOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}
