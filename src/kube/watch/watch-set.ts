// SPDX-License-Identifier: Apache-2.0
import type { Reflector } from './reflector.ts';

/** Reflectors by key, which start and stop with the set of keys. */
export interface WatchSet<T> {
  /** Starts a reflector for each new key. Stops and clears those whose keys are gone. */
  readonly reconcile: (keys: Iterable<string>) => void;
  readonly get: (key: string) => Reflector<T> | undefined;
  readonly entries: () => readonly (readonly [string, Reflector<T>])[];
  /** Returns those that have not listed yet, or that fail. */
  readonly unread: () => readonly (readonly [string, Reflector<T>])[];
  /** Stops all and waits for them. Their caches stay as they are. */
  readonly stop: () => Promise<void>;
}

interface RunningReflector<T> {
  readonly reflector: Reflector<T>;
  readonly abort: AbortController;
}

/** @param make - creates the reflector of a key, which the set runs */
export function createWatchSet<T>(make: (key: string) => Reflector<T>): WatchSet<T> {
  const running = new Map<string, RunningReflector<T>>();
  const runs = new Set<Promise<void>>();

  function start(key: string): void {
    const reflector = make(key);
    const abort = new AbortController();
    running.set(key, { reflector, abort });
    const run = reflector.run(abort.signal).then(() => {
      runs.delete(run);
    });
    runs.add(run);
  }

  function end(key: string, { reflector, abort }: RunningReflector<T>): void {
    running.delete(key);
    abort.abort();
    reflector.clear();
  }

  const entries: WatchSet<T>['entries'] = () =>
    [...running].map(([key, each]) => [key, each.reflector] as const);

  return {
    reconcile: (keys) => {
      const wanted = new Set(keys);
      for (const [key, each] of [...running]) if (!wanted.has(key)) end(key, each);
      for (const key of wanted) if (!running.has(key)) start(key);
    },
    get: (key) => running.get(key)?.reflector,
    entries,
    unread: () => entries().filter(([, each]) => !each.synced || each.failure !== undefined),
    stop: async () => {
      for (const each of running.values()) each.abort.abort();
      await Promise.all(runs);
    },
  };
}
