// SPDX-License-Identifier: Apache-2.0
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, Delay } from '#base/ports.ts';
import type { ConcurrencyLimiter } from './concurrency-limiter.ts';
import type { DelayingQueue } from './delaying-queue.ts';
import type { RateLimiter } from './rate-limiter.ts';

/**
 * The next step for a key after one reconciliation, as controller-runtime's `reconcile.Result`.
 * Times are milliseconds of the local clock.
 *
 * - `'backoff'`: requeue after growing delays.
 * - `backoffUntil`: the same, but no later than this time.
 * - `requeueAt`: requeue at this time. The backoff starts over.
 * - undefined: requeue only when the key is added again. The backoff starts over.
 */
export type ReconcileResult =
  'backoff' | { readonly backoffUntil: number } | { readonly requeueAt: number } | undefined;

export interface RunLoopInit {
  readonly queue: DelayingQueue;
  readonly limiter: RateLimiter;
  /**
   * The limit of keys in progress that do not lend their seats, if it is below the limit of the
   * concurrency limiter.
   */
  readonly workers?: number | undefined;
  /** Must not be shared with another loop. */
  readonly concurrency: ConcurrencyLimiter;
  readonly clock: Clock;
  readonly delay: Delay;
  /** Reconciles one key, never twice at once for one key. A rejection means backoff. */
  readonly handle: (key: string) => Promise<ReconcileResult>;
  /** Receives the rejections of `handle`. */
  readonly onError: (key: string, error: unknown) => void;
  readonly metrics: LoopMetrics;
}

/** Receives the counts of the workers. */
export interface LoopMetrics {
  /** Records the seconds that one reconciliation took. */
  worked(seconds: number): void;
  retried(): void;
}

/**
 * While many keys wait, this many start at once. Each step then runs for one key after the other
 * while its code and data are in the CPU caches. That takes a fifth less CPU time than keys one by
 * one (docs/adr/0025).
 */
const BATCH_SIZE = 8;
/** The longest wait of a key for its batch to fill. Some slow writes must not delay others. */
const BATCH_WAIT_MS = 20;
/**
 * One reserved seat for this many seats of the limit. It serves a flow that has nothing in progress
 * while others hold all seats.
 */
const SEATS_TO_ONE_RESERVED = 8;
/** Created once: Node would otherwise create an abort reason with a stack trace each time. */
const BATCH_STARTED = new Error('the batch has started');

/**
 * Processes the queue until `signal` is aborted, finishes the keys in progress, then resolves. An
 * error of one key never stops the others. A key leaves the queue only when it can start, so that a
 * more urgent key may still overtake it.
 *
 * The event loop serves its sockets between two batches. A key of a flow that has nothing in
 * progress does not wait for the seats, or the batch, of others. Some seats beside the limit are
 * reserved for such keys.
 */
export async function runLoop(init: RunLoopInit, signal: AbortSignal): Promise<void> {
  await new Loop(init).run(signal);
}

class Loop {
  readonly #init: RunLoopInit;
  readonly #inProgress = new Set<Promise<void>>();
  /** The number of them that have a reserved seat. */
  #reserved = 0;
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor(init: RunLoopInit) {
    this.#init = init;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { queue, concurrency } = this.#init;
    queue.onAdded(() => this.#wake());
    if (signal.aborted) this.#stop();
    signal.addEventListener('abort', () => this.#stop(), { once: true });
    concurrency.onAvailable(() => this.#wake());
    for (;;) {
      await this.#untilAvailable(() => this.#batchSize());
      const key = await queue.take();
      if (key === undefined) break;
      // A pause may have begun while the queue was empty.
      await this.#untilAvailable(() => 1);
      if (this.#closed()) continue;
      const more = Math.min(BATCH_SIZE - 1, this.#available() - 1, queue.depth);
      const others = await Promise.all(Array.from({ length: more }, queue.take));
      for (const each of [key, ...others])
        if (each !== undefined) this.#start(each, { isReserved: false });
      if (more > 0) await nextTurn();
    }
    await Promise.all(this.#inProgress);
  }

  #stop(): void {
    this.#isClosed = true;
    this.#init.queue.shutDown();
    this.#wake();
  }

  // A method, because the compiler would take the field for unchanged across an await.
  #closed(): boolean {
    return this.#isClosed;
  }

  get #workers(): number {
    return this.#init.workers ?? Infinity;
  }

  /** Returns how many more keys may start now. */
  #available(): number {
    const { concurrency } = this.#init;
    const seated = this.#inProgress.size - concurrency.lent;
    return Math.min(concurrency.available, this.#workers - seated);
  }

  /** Returns how many keys may be in progress, not rounded. */
  #limit(): number {
    return Math.min(this.#init.concurrency.currentLimit(), this.#workers);
  }

  /** Returns how many keys to start at once: at most half of those that may be in progress. */
  #batchSize(): number {
    const { queue } = this.#init;
    const half = Math.floor(this.#limit() / 2);
    return Math.max(1, Math.min(BATCH_SIZE, queue.depth, half));
  }

  /** Resolves when `wanted()` keys may start, or one after `BATCH_WAIT_MS`, or at the stop. */
  async #untilAvailable(wanted: () => number): Promise<void> {
    let patience: AbortController | undefined;
    const waited = { long: false };
    while (!this.#closed() && this.#available() < (waited.long ? 1 : wanted())) {
      if (patience === undefined && this.#available() > 0) {
        patience = new AbortController();
        void this.#init.delay(BATCH_WAIT_MS, patience.signal).then(
          () => {
            waited.long = true;
            this.#wake();
          },
          () => undefined,
        );
      }
      this.#startReserved();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    patience?.abort(BATCH_STARTED);
  }

  /**
   * Starts keys of flows that have nothing in progress, while all seats are taken or a batch is
   * filling.
   */
  #startReserved(): void {
    const { queue, concurrency } = this.#init;
    if (concurrency.isPaused) return;
    const seats = Math.floor(this.#limit() / SEATS_TO_ONE_RESERVED);
    while (this.#reserved < Math.max(1, seats)) {
      const key = queue.takeOfIdleFlow();
      if (key === undefined) return;
      this.#start(key, { isReserved: true });
    }
  }

  #start(key: string, { isReserved }: { readonly isReserved: boolean }): void {
    const { concurrency } = this.#init;
    concurrency.acquire();
    if (isReserved) this.#reserved += 1;
    const work = reconcile(this.#init, key).finally(() => {
      this.#inProgress.delete(work);
      if (isReserved) this.#reserved -= 1;
      // This wakes the loop, which must find the seat free: nothing wakes it again.
      concurrency.release();
    });
    this.#inProgress.add(work);
  }
}

async function reconcile(init: RunLoopInit, key: string): Promise<void> {
  const started = init.clock();
  let result: ReconcileResult = 'backoff';
  try {
    result = await init.handle(key);
  } catch (error) {
    init.onError(key, error);
  }
  init.metrics.worked((init.clock() - started) / 1000);
  requeue(init, key, result);
  init.queue.done(key);
}

function requeue(init: RunLoopInit, key: string, result: ReconcileResult): void {
  const { queue, limiter, clock, metrics } = init;
  if (result === 'backoff' || (result !== undefined && 'backoffUntil' in result)) {
    metrics.retried();
    const latest = result === 'backoff' ? Infinity : result.backoffUntil;
    queue.addAt(key, Math.min(clock() + limiter.nextDelay(key), latest));
    return;
  }
  limiter.forget(key);
  // A pending earlier requeue is obsolete.
  if (result === undefined) queue.cancel(key);
  else queue.addAt(key, result.requeueAt);
}
