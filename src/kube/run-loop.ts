// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '../ports.ts';
import type { DelayingQueue } from './delaying-queue.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** When to look at a key again: after growing delays, at a time, or only when it changes. */
export type Again = 'backoff' | { readonly at: number } | undefined;

export interface RunLoopInit {
  readonly queue: DelayingQueue;
  readonly limiter: RateLimiter;
  readonly workers: number;
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
 * one key never stop the others.
 */
export async function runLoop(init: RunLoopInit, signal: AbortSignal): Promise<void> {
  const stop = (): void => {
    init.queue.shutDown();
  };
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  await Promise.all(Array.from({ length: init.workers }, () => work(init)));
}

async function work(init: RunLoopInit): Promise<void> {
  for (let key = await init.queue.take(); key !== undefined; key = await init.queue.take()) {
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
}

function settle({ queue, limiter, clock, metrics }: RunLoopInit, key: string, again: Again): void {
  if (again === 'backoff') {
    metrics.retried();
    queue.addAt(key, clock() + limiter.next(key));
    return;
  }
  limiter.forget(key);
  // A look that was still to come, from before it was woken, is not needed any longer.
  if (again === undefined) queue.cancel(key);
  else queue.addAt(key, again.at);
}
