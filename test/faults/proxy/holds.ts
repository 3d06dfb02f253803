// SPDX-License-Identifier: Apache-2.0

/** A call or a line that waits for the test. */
export interface Held {
  readonly client: string;
  readonly path: string;
  /** Of a call its body, of a line the line. */
  readonly text: string;
  /** Lets it pass. */
  release(): void;
}

export interface Holds {
  /** Resolves when it is released. */
  hold(what: Omit<Held, 'release'>): Promise<void>;
  /** The next one that nobody took yet; waits for it. */
  next(): Promise<Held>;
  releaseAll(): void;
}

export function createHolds(): Holds {
  const untaken: Held[] = [];
  const takers: ((held: Held) => void)[] = [];
  const waiting = new Set<() => void>();
  return {
    hold: (what) =>
      new Promise((resolve) => {
        const release = (): void => {
          waiting.delete(release);
          resolve();
        };
        waiting.add(release);
        const held = { ...what, release };
        const taker = takers.shift();
        if (taker === undefined) untaken.push(held);
        else taker(held);
      }),
    next: () => {
      const known = untaken.shift();
      return known === undefined
        ? new Promise((resolve) => takers.push(resolve))
        : Promise.resolve(known);
    },
    releaseAll: () => {
      for (const release of waiting) release();
      untaken.length = 0;
    },
  };
}
