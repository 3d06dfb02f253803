// SPDX-License-Identifier: Apache-2.0

/** Runs a few works at a time. The callers that wait take turns. */
export class Turns {
  readonly #most: number;
  #running = 0;
  /** The works that wait, by caller. The first caller is the next. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** @param most - works at a time, at least 1 */
  constructor(most: number) {
    this.#most = most;
  }

  /** Returns how many works of a caller wait for their turn. */
  waiting(caller: string): number {
    return this.#waiting.get(caller)?.length ?? 0;
  }

  /** Runs `work` when it is the caller's turn. */
  async take<T>(caller: string, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most) await this.#turnOf(caller);
    else this.#running += 1;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turnOf(caller: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(caller, [...(this.#waiting.get(caller) ?? []), resolve]);
    });
  }

  /** Passes the turn to the next caller, who then waits behind all others. */
  #next(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    const [caller, [begin, ...rest]] = next;
    this.#waiting.delete(caller);
    if (rest.length > 0) this.#waiting.set(caller, rest);
    begin?.();
  }
}
