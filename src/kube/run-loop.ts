// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '../ports.ts';
import type { DelayingQueue } from './delaying-queue.ts';
import type { Pace } from './pace.ts';
import type { RateLimiter } from './rate-limiter.ts';

/**
 * When to look at a key again: after growing delays, the same but no later than a time, at a time, or
 * only when it changes. Times are milliseconds of the clock.
 */
export type Again =
  'backoff' | { readonly backoffUntil: number } | { readonly at: number } | undefined;

export interface RunLoopInit {
  readonly queue: DelayingQueue;
  readonly limiter: RateLimiter;
  /** No more keys than this are worked on at once, whatever the pace allows. */
  readonly workers: number;
  /** Of this loop alone. */
  readonly pace: Pace;
  readonly clock: Clock;
  /** Works on one key; one call a key at a time. A rejection is told to `onError` and backed off. */
  readonly handle: (key: string) => Promise<Again>;
  readonly onError: (key: string, error: unknown) => void;
  readonly metrics: LoopMetrics;
}

/** What the workers count. */
export interface LoopMetrics {
  worked(seconds: number): void;
  retried(): void;
}

/**
 * Works on the queue until `signal` is aborted, finishes what is in flight, then resolves. Errors of
 * one key never stop the others. A key is taken no sooner than it can be worked on: until then what
 * is more urgent may come.
 */
export async function runLoop(init: RunLoopInit, signal: AbortSignal): Promise<void> {
  const { queue, pace, workers } = init;
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
  pace.onFree(() => {
    wake();
  });

  /** Resolves when one more key may be taken, or none any more. */
  async function room(): Promise<void> {
    while (!isClosed() && !(pace.free && working.size < workers)) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  function start(key: string): void {
    pace.begin();
    const work = workOn(init, key).finally(() => {
      working.delete(work);
      pace.end();
    });
    working.add(work);
  }

  for (;;) {
    await room();
    const key = await queue.take();
    if (key === undefined) break;
    // Meanwhile the server may have asked us to stay away.
    await room();
    if (!isClosed()) start(key);
  }
  await Promise.all(working);
}

async function workOn(init: RunLoopInit, key: string): Promise<void> {
  const started = init.clock();
  let again: Again = 'backoff';
  try {
    again = await init.handle(key);
  } catch (error) {
    init.onError(key, error);
  }
  init.metrics.worked((init.clock() - started) / 1000);
  settle(init, key, again);
  init.queue.done(key);
}

function settle({ queue, limiter, clock, metrics }: RunLoopInit, key: string, again: Again): void {
  if (again === 'backoff' || (again !== undefined && 'backoffUntil' in again)) {
    metrics.retried();
    const latest = again === 'backoff' ? Infinity : again.backoffUntil;
    queue.addAt(key, Math.min(clock() + limiter.next(key), latest));
    return;
  }
  limiter.forget(key);
  // A look that was still to come, from before it was woken, is not needed any longer.
  if (again === undefined) queue.cancel(key);
  else queue.addAt(key, again.at);
}
