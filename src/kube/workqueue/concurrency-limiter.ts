// SPDX-License-Identifier: Apache-2.0
import type { Monotonic, Random } from '#base/ports.ts';
import { backoffDelay } from '../wait/backoff.ts';
import type { StartTimer } from './delaying-queue.ts';

/** The result of one write to the API server. */
export interface Sample {
  /** The time of sending, in milliseconds of the limiter's clock. */
  readonly begun: number;
  /** The HTTP status, or 0 without a response. */
  readonly status: number;
  /** `Retry-After` in milliseconds. */
  readonly retryAfter?: number | undefined;
}

/**
 * Adapts how many objects a loop processes at once, apart from those that lend their seats, so that
 * the API server is busy and never flooded. It uses AIMD (additive increase, multiplicative
 * decrease), as TCP congestion control does:
 *
 * - one more for each round of quick responses, while the limit is reached,
 * - a tenth fewer when responses are slow, but not below the initial limit,
 * - half at a 429 and while the API server is unavailable, and a pause (`Retry-After`),
 * - the initial limit again once a lower one was neither reached nor cut for ten seconds, because
 *   it is out of date then.
 */
export interface ConcurrencyLimiter {
  /** The number of objects that may start now. 0 during a pause. */
  readonly available: number;
  /** True if nothing may start now, however little is in progress. */
  readonly isPaused: boolean;
  /**
   * Returns the present limit, not rounded. It first resets one that is low and unused. A pause
   * does not change it.
   */
  readonly currentLimit: () => number;
  /** Counts one object more in progress. Does not check `available`. */
  readonly acquire: () => void;
  /** Counts one object less in progress. */
  readonly release: () => void;
  /**
   * Lets another object start in place of one in progress while `work` runs, which must not call
   * the API server. As many objects as the limit allows can lend their seats, and none while 429s
   * keep the limit low. They take their seats back without a wait. So at most twice the limit, and
   * the reserved seats, call the API server after that.
   */
  readonly lend: <T>(work: () => Promise<T>) => Promise<T>;
  /** The number of objects in progress that lend their seats. */
  readonly lent: number;
  readonly observe: (sample: Sample) => void;
  /** Sets the one listener, which is called whenever `available` may have grown. */
  readonly onAvailable: (listener: () => void) => void;
}

export interface ConcurrencyLimiterInit {
  readonly clock: Monotonic;
  readonly random: Random;
  readonly startTimer: StartTimer;
}

/** Two, so that while one write is slow, another shows whether all are. */
const MIN_IN_FLIGHT = 2;
/**
 * Half of the seats of this project's priority level (deploy/flow-control), or an eighth of those
 * of `workload-low`. Two loops at this limit fill the level, and one does beside a ledger. More
 * waits in the queues of the level.
 */
const MAX_IN_FLIGHT = 32;
/** Enough to reach what an API server on two cores can store. */
const INITIAL_IN_FLIGHT = 16;
/** A response within this time is never slow, whatever the lowest latency is. */
const QUICK_MS = 100;
/** A response is slow at three times the lowest latency: two thirds of it is time in queues. */
const SLOW_FACTOR = 3;
/**
 * Slow responses do not reduce the limit below its initial value. Other clients may cause the
 * latency, and backing off alone would starve this one. A 429 signals real overload.
 */
const SLOW_FLOOR = INITIAL_IN_FLIGHT;
/**
 * The time after which an unused lower limit is reset. Only a limit that is reached grows. A loop
 * with little to do would keep the low limit from a storm of 429s, and meet the next burst with two
 * keys at a time. A process that starts now would begin with the initial limit.
 */
const UNTESTED_MS = 10_000;
const SLOW_SHRINK = 0.9;
const REJECTED_SHRINK = 0.5;
/** The pause after a 429 without `Retry-After`, as in client-go. */
const THROTTLED_MS = 1_000;
/** The limit of `Retry-After`. A proxy may send days. */
const MAX_THROTTLED_MS = 60_000;
/**
 * The backoff while the API server is unavailable. It is short, because pods wait for their
 * certificates.
 */
const UNAVAILABLE = { firstMs: 100, maxMs: 2_000 };
/** No response, a proxy without a backend, or an API server without etcd. */
const UNAVAILABLE_STATUSES: ReadonlySet<number> = new Set([0, 502, 503, 504]);

export function createConcurrencyLimiter(init: ConcurrencyLimiterInit): ConcurrencyLimiter {
  return new AimdLimiter(init);
}

class AimdLimiter implements ConcurrencyLimiter {
  #limit = INITIAL_IN_FLIGHT;
  readonly #init: ConcurrencyLimiterInit;
  readonly #lowest: LowestLatency;
  #listener: () => void = () => undefined;
  #inProgress = 0;
  #failures = 0;
  /** The time of the last cut. Earlier writes show nothing about the new limit. */
  #cutAt = -Infinity;
  /** The time at which the limit was last reached. */
  #reachedAt = -Infinity;
  #endPause: (() => void) | undefined;
  #pausedUntil = 0;
  lent = 0;

  constructor(init: ConcurrencyLimiterInit) {
    this.#init = init;
    this.#lowest = new LowestLatency(init.clock);
  }

  readonly currentLimit = (): number => {
    const tested = Math.max(this.#reachedAt, this.#cutAt, this.#pausedUntil);
    const isUntested = this.#init.clock() - tested >= UNTESTED_MS;
    if (isUntested) this.#limit = Math.max(this.#limit, INITIAL_IN_FLIGHT);
    return this.#limit;
  };

  get isPaused(): boolean {
    return this.#endPause !== undefined;
  }

  get available(): number {
    if (this.isPaused) return 0;
    return Math.max(0, Math.floor(this.currentLimit()) - this.#inProgress);
  }

  readonly acquire = (): void => {
    this.#inProgress += 1;
    if (this.#inProgress >= Math.floor(this.currentLimit())) {
      this.#reachedAt = this.#init.clock();
    }
  };

  readonly release = (): void => {
    this.#inProgress -= 1;
    this.#listener();
  };

  readonly lend = async <T>(work: () => Promise<T>): Promise<T> => {
    const limit = this.currentLimit();
    if (limit < INITIAL_IN_FLIGHT || this.lent >= Math.floor(limit)) return work();
    this.lent += 1;
    this.release();
    try {
      return await work();
    } finally {
      this.lent -= 1;
      this.acquire();
    }
  };

  readonly observe = ({ begun, status, retryAfter }: Sample): void => {
    if (status === 429) {
      this.#cut(begun, REJECTED_SHRINK);
      this.#pause(retryAfter ?? THROTTLED_MS);
    } else if (UNAVAILABLE_STATUSES.has(status)) {
      if (!this.#cut(begun, REJECTED_SHRINK)) return;
      const delay = backoffDelay(this.#failures, { ...UNAVAILABLE, random: this.#init.random });
      this.#pause(Math.max(retryAfter ?? 0, delay));
      this.#failures += 1;
    } else if (status < 500) this.#onResponse(begun);
  };

  readonly onAvailable = (listener: () => void): void => {
    this.#listener = listener;
  };

  #cut(begun: number, factor: number, floor = MIN_IN_FLIGHT): boolean {
    if (begun <= this.#cutAt) return false;
    this.#cutAt = this.#init.clock();
    this.#limit = Math.max(Math.min(floor, this.#limit), this.#limit * factor);
    return true;
  }

  #pause(requested: number): void {
    const milliseconds = Math.min(requested, MAX_THROTTLED_MS);
    const until = this.#init.clock() + milliseconds;
    if (this.#endPause !== undefined && until <= this.#pausedUntil) return;
    this.#endPause?.();
    this.#pausedUntil = until;
    this.#endPause = this.#init.startTimer(milliseconds, () => {
      this.#endPause = undefined;
      this.#listener();
    });
  }

  #onResponse(begun: number): void {
    this.#failures = 0;
    const latency = this.#init.clock() - begun;
    const isSlow = latency > Math.max(QUICK_MS, SLOW_FACTOR * this.#lowest.observe(latency));
    if (isSlow) this.#cut(begun, SLOW_SHRINK, SLOW_FLOOR);
    // Only a limit that was reached was tested.
    else if (this.#reachedAt >= begun) {
      this.#limit = Math.min(MAX_IN_FLIGHT, this.#limit + 1 / this.#limit);
    }
  }
}

/**
 * The window is long enough to contain a quiet moment, and short enough to forget a server that was
 * faster.
 */
const WINDOW_MS = 5 * 60_000;

/** The lowest latency of the present and the previous window: a write on an idle API server. */
class LowestLatency {
  readonly #clock: Monotonic;
  #previous = Infinity;
  #present = Infinity;
  #since: number;

  constructor(clock: Monotonic) {
    this.#clock = clock;
    this.#since = clock();
  }

  /** Records a latency in milliseconds. Returns the lowest, including this one. */
  observe(latency: number): number {
    const now = this.#clock();
    if (now - this.#since >= WINDOW_MS) {
      this.#previous = this.#present;
      this.#present = Infinity;
      this.#since = now;
    }
    this.#present = Math.min(this.#present, latency);
    return Math.min(this.#present, this.#previous);
  }
}
