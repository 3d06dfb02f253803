// SPDX-License-Identifier: Apache-2.0
import type { Clock, Delay } from '../../ports.ts';
import type { DelayingQueue } from './delaying-queue.ts';
import type { ConcurrencyLimiter } from './concurrency-limiter.ts';
import type { RateLimiter } from './rate-limiter.ts';

/**
 * When to look at a key again: after growing delays, the same but no later than a time, at a time, or
 * only when it changes. Times are milliseconds of the clock.
 */
export type ReconcileResult =
  'backoff' | { readonly backoffUntil: number } | { readonly requeueAt: number } | undefined;

export interface RunLoopInit {
  readonly queue: DelayingQueue;
  readonly limiter: RateLimiter;
  /** No more keys than this are worked on at once, whatever the concurrency allows. */
  readonly workers: number;
  /** Of this loop alone. */
  readonly concurrency: ConcurrencyLimiter;
  readonly clock: Clock;
  readonly delay: Delay;
  /** Works on one key; one call a key at a time. A rejection is told to `onError` and backed off. */
  readonly handle: (key: string) => Promise<ReconcileResult>;
  readonly onError: (key: string, error: unknown) => void;
  readonly metrics: LoopMetrics;
}

/** What the workers count. */
export interface LoopMetrics {
  worked(seconds: number): void;
  retried(): void;
}

/**
 * Where many keys wait, so many are begun together. Each step of their way is then done for one after
 * the other while its code and data are in the core's caches, which takes a fifth less CPU time than
 * their ways one by one.
 */
export const TOGETHER = 8;
/** For so long a key waits for others to be begun with: some slow writes are no reason to wait for more. */
export const GATHER_MS = 20;
/** Made once: a reason of Node's own would be made, stack trace and all, each time. */
const ENOUGH = new Error('enough keys to begin with');

/**
 * Works on the queue until `signal` is aborted, finishes what is in flight, then resolves. Errors of
 * one key never stop the others. A key is taken no sooner than it can be worked on: until then what
 * is more urgent may come.
 */
export async function runLoop(init: RunLoopInit, signal: AbortSignal): Promise<void> {
  const { queue, concurrency, workers } = init;
  const working = new Set<Promise<void>>();
  let closed = false;
  let wake: () => void = () => undefined;

  // A function: it changes behind the compiler's back.
  const isClosed = (): boolean => closed;
  const stop = (): void => {
    closed = true;
    queue.shutDown();
    wake();
  };
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  concurrency.onAvailable(() => {
    wake();
  });

  /** How many more keys may be begun now. */
  const room = (): number => Math.min(concurrency.available, workers - working.size);
  /** How many are worth beginning together; never more than half of those that may be at work. */
  const enough = (): number =>
    Math.max(
      1,
      Math.min(TOGETHER, queue.depth, Math.floor(Math.min(concurrency.limit, workers) / 2)),
    );

  /** Resolves when so many keys may be begun, or fewer for long enough, or none any more. */
  async function turn(wanted: () => number): Promise<void> {
    let patience: AbortController | undefined;
    const waited = { long: false };
    while (!isClosed() && room() < (waited.long ? 1 : wanted())) {
      if (patience === undefined && room() > 0) {
        patience = new AbortController();
        void init.delay(GATHER_MS, patience.signal).then(
          () => {
            waited.long = true;
            wake();
          },
          () => undefined,
        );
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    patience?.abort(ENOUGH);
  }

  function start(key: string): void {
    concurrency.acquire();
    const work = workOn(init, key).finally(() => {
      working.delete(work);
      concurrency.release();
    });
    working.add(work);
  }

  for (;;) {
    await turn(enough);
    const key = await queue.take();
    if (key === undefined) break;
    // Meanwhile the server may have asked us to stay away.
    await turn(() => 1);
    if (isClosed()) continue;
    const more = Math.min(room() - 1, queue.depth);
    const others = await Promise.all(Array.from({ length: more }, queue.take));
    for (const each of [key, ...others]) if (each !== undefined) start(each);
  }
  await Promise.all(working);
}

async function workOn(init: RunLoopInit, key: string): Promise<void> {
  const started = init.clock();
  let again: ReconcileResult = 'backoff';
  try {
    again = await init.handle(key);
  } catch (error) {
    init.onError(key, error);
  }
  init.metrics.worked((init.clock() - started) / 1000);
  settle(init, key, again);
  init.queue.done(key);
}

function settle(
  { queue, limiter, clock, metrics }: RunLoopInit,
  key: string,
  again: ReconcileResult,
): void {
  if (again === 'backoff' || (again !== undefined && 'backoffUntil' in again)) {
    metrics.retried();
    const latest = again === 'backoff' ? Infinity : again.backoffUntil;
    queue.addAt(key, Math.min(clock() + limiter.nextDelay(key), latest));
    return;
  }
  limiter.forget(key);
  // A look that was still to come, from before it was woken, is not needed any longer.
  if (again === undefined) queue.cancel(key);
  else queue.addAt(key, again.requeueAt);
}
