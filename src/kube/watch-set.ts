// SPDX-License-Identifier: Apache-2.0
import type { Reflector } from './reflector.ts';

/** Reflectors that come and go with what has to be watched. */
export interface WatchSet<T> {
  /** Starts what is missing in `keys`, ends what is no longer in it. */
  reconcile(keys: Iterable<string>): void;
  get(key: string): Reflector<T> | undefined;
  entries(): readonly (readonly [string, Reflector<T>])[];
  /** Ends all and waits until they have ended. */
  stop(): Promise<void>;
}

interface Running<T> {
  readonly reflector: Reflector<T>;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

export function createWatchSet<T>(make: (key: string) => Reflector<T>): WatchSet<T> {
  const running = new Map<string, Running<T>>();

  function start(key: string): void {
    const reflector = make(key);
    const abort = new AbortController();
    running.set(key, { reflector, abort, ended: reflector.run(abort.signal) });
  }

  return {
    reconcile: (keys) => {
      const wanted = new Set(keys);
      for (const [key, each] of running) {
        if (wanted.has(key)) continue;
        each.abort.abort();
        running.delete(key);
      }
      for (const key of wanted) if (!running.has(key)) start(key);
    },
    get: (key) => running.get(key)?.reflector,
    entries: () => [...running].map(([key, each]) => [key, each.reflector] as const),
    stop: async () => {
      for (const each of running.values()) each.abort.abort();
      await Promise.all([...running.values()].map((each) => each.ended));
    },
  };
}
