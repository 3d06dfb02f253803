// SPDX-License-Identifier: Apache-2.0
import type { Clock, Random } from '../../ports.ts';
import { backoffDelay } from '../wait/backoff.ts';
import type { StartTimer } from './delaying-queue.ts';

/** What a write came to, and when it was begun. */
export interface Sample {
  /** Milliseconds of the clock. */
  readonly begun: number;
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** Milliseconds that the server asks us to stay away. */
  readonly retryAfter?: number | undefined;
}

/**
 * How many objects are worked on at once, so that the API server is kept busy and never flooded: one
 * more for each round of good answers, fewer when they take long (but no fewer than it began with),
 * half at a 429 and while the server is away; and a rest for as long as it asks. (AIMD, as TCP does.)
 */
export interface ConcurrencyLimiter {
  /** How many more may be begun now. */
  readonly available: number;
  /** How many may be at work, whole or not; a pause does not show in it. */
  readonly limit: number;
  readonly acquire: () => void;
  readonly release: () => void;
  readonly observe: (sample: Sample) => void;
  /** Called whenever it may have become free. */
  readonly onAvailable: (listener: () => void) => void;
}

export interface ConcurrencyLimiterInit {
  readonly clock: Clock;
  readonly random: Random;
  readonly startTimer: StartTimer;
}

/** Two: while one write is slow, another shows whether all are. */
export const MIN_IN_FLIGHT = 2;
/**
 * Half of the seats of our priority level (deploy/flow-control), or an eighth of those of
 * `workload-low`: what is over queues up there, where it is in others' way.
 */
export const MAX_IN_FLIGHT = 32;
/** Enough to reach what an API server on two cores can store (design §6). */
export const FIRST_IN_FLIGHT = 16;
/** What the API server does within this is quick, however fast it once was. */
const QUICK_MS = 100;
/** Three times the shortest way: two thirds of the time are spent in queues. */
const SLOW_FACTOR = 3;
/**
 * Slow answers alone take no more than what was won: it may be others who keep the server busy, and who
 * makes room for those that make none is starved. Where it is too much the server says 429.
 */
const SLOW_LEAST = FIRST_IN_FLIGHT;
const SLOW_SHRINK = 0.9;
const REFUSED_SHRINK = 0.5;
/** As client-go, where a 429 does not say for how long. */
const THROTTLED_MS = 1_000;
/** A proxy that asks for days is asked again, too. */
const MAX_THROTTLED_MS = 60_000;
/** A server that is away is asked again soon: pods wait for us when it is back. */
const AWAY = { firstMs: 100, maxMs: 2_000 };
/** Answers of what stands in front of a server, or of one that cannot reach etcd. */
const AWAY_STATUSES: ReadonlySet<number> = new Set([0, 502, 503, 504]);

export function createConcurrencyLimiter({
  clock,
  random,
  startTimer,
}: ConcurrencyLimiterInit): ConcurrencyLimiter {
  const best = createBestLatency(clock);
  let listener: () => void = () => undefined;
  let limit = FIRST_IN_FLIGHT;
  let busy = 0;
  let failures = 0;
  /** What was begun no later says nothing new: it was under way when the limit was cut. */
  let cutAt = -Infinity;
  /** When as many were at work as may be, last. */
  let fullAt = -Infinity;
  let paused: (() => void) | undefined;
  let pausedUntil = 0;

  function cut(begun: number, factor: number, least = MIN_IN_FLIGHT): boolean {
    if (begun <= cutAt) return false;
    cutAt = clock();
    limit = Math.max(Math.min(least, limit), limit * factor);
    return true;
  }

  function pause(asked: number): void {
    const milliseconds = Math.min(asked, MAX_THROTTLED_MS);
    const until = clock() + milliseconds;
    if (paused !== undefined && until <= pausedUntil) return;
    paused?.();
    pausedUntil = until;
    paused = startTimer(milliseconds, () => {
      paused = undefined;
      listener();
    });
  }

  function answered(begun: number): void {
    failures = 0;
    const took = Math.max(0, clock() - begun);
    const slow = took > Math.max(QUICK_MS, SLOW_FACTOR * best.note(took));
    if (slow) cut(begun, SLOW_SHRINK, SLOW_LEAST);
    // A limit that nobody comes up against says nothing of the server.
    else if (fullAt >= begun) limit = Math.min(MAX_IN_FLIGHT, limit + 1 / limit);
  }

  return {
    get available() {
      return paused === undefined ? Math.max(0, Math.floor(limit) - busy) : 0;
    },
    get limit() {
      return limit;
    },
    acquire: () => {
      busy += 1;
      if (busy >= Math.floor(limit)) fullAt = clock();
    },
    release: () => {
      busy -= 1;
      listener();
    },
    observe: ({ begun, status, retryAfter }) => {
      if (status === 429) {
        cut(begun, REFUSED_SHRINK);
        pause(retryAfter ?? THROTTLED_MS);
      } else if (AWAY_STATUSES.has(status)) {
        if (!cut(begun, REFUSED_SHRINK)) return;
        pause(Math.max(retryAfter ?? 0, backoffDelay(failures, { ...AWAY, random })));
        failures += 1;
      } else if (status < 500) answered(begun);
    },
    onAvailable: (by) => {
      listener = by;
    },
  };
}

/** The shortest that was seen lately: how long a write takes when nobody is in its way. */
export interface BestLatency {
  /** @returns the shortest of this and the last window, this one included */
  readonly note: (milliseconds: number) => number;
}

/** Long enough to hold a quiet moment, short enough to forget a server that was faster. */
export const WINDOW_MS = 5 * 60_000;

export function createBestLatency(clock: Clock): BestLatency {
  let before = Infinity;
  let best = Infinity;
  let since = clock();
  return {
    note: (milliseconds) => {
      const now = clock();
      if (Math.abs(now - since) >= WINDOW_MS) {
        before = best;
        best = Infinity;
        since = now;
      }
      best = Math.min(best, milliseconds);
      return Math.min(best, before);
    },
  };
}
