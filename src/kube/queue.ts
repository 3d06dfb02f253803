// SPDX-License-Identifier: Apache-2.0

/**
 * client-go's workqueue. Fair: in the order of adding. Stingy: a key is worked on by one worker at a
 * time, and a key added several times before that is worked on once. A key added while it is worked
 * on comes back when that is done.
 */
export interface Queue {
  add(key: string): void;
  /** The next key, or undefined once the queue is shut down and empty of waiters. */
  take(): Promise<string | undefined>;
  done(key: string): void;
  /** No key is handed out any more; waiting takers get undefined. */
  shutDown(): void;
  readonly depth: number;
}

/** What a queue counts. */
export interface QueueMetrics {
  added(): void;
  depth(count: number): void;
  /** Seconds between add and take. */
  waited(seconds: number): void;
}

export function createQueue(clock: () => number, metrics: QueueMetrics): Queue {
  const order = new Set<string>();
  const since = new Map<string, number>();
  const processing = new Set<string>();
  const dirty = new Set<string>();
  const takers: ((key: string | undefined) => void)[] = [];
  let closed = false;

  function hand(key: string): void {
    const taker = takers.shift();
    if (taker === undefined) {
      order.add(key);
      metrics.depth(order.size);
      return;
    }
    begin(key);
    taker(key);
  }

  function begin(key: string): void {
    dirty.delete(key);
    processing.add(key);
    metrics.waited((clock() - (since.get(key) ?? clock())) / 1000);
    since.delete(key);
  }

  return {
    add: (key) => {
      if (closed || dirty.has(key)) return;
      dirty.add(key);
      since.set(key, clock());
      metrics.added();
      if (!processing.has(key)) hand(key);
    },
    take: () => {
      const [key] = order;
      if (closed) return Promise.resolve(undefined);
      if (key === undefined) return new Promise((resolve) => takers.push(resolve));
      order.delete(key);
      metrics.depth(order.size);
      begin(key);
      return Promise.resolve(key);
    },
    done: (key) => {
      processing.delete(key);
      if (dirty.has(key)) hand(key);
    },
    shutDown: () => {
      closed = true;
      for (const taker of takers.splice(0)) taker(undefined);
    },
    get depth() {
      return order.size;
    },
  };
}
