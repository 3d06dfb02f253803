// SPDX-License-Identifier: Apache-2.0
import type { Random } from '#base/ports.ts';
import { backoffDelay } from '../wait/backoff.ts';
import type { WatchFailure } from './watch-error.ts';

/** The backoff of client-go's reflector: 0.8 s doubling to 30 s. */
const FIRST_BACKOFF_MS = 800;
const MAX_BACKOFF_MS = 30_000;
/**
 * The limit for an unreachable server. Waiting does not spare it, and pods wait for this process
 * when it is back.
 */
const MAX_UNREACHABLE_BACKOFF_MS = 5_000;

/** Tracks whether the watch of one reflector works, and the delay after a failure. Not shared. */
export class WatchHealth {
  /** The last error while there is no working watch. */
  failure: string | undefined;
  readonly #random: Random;
  /** Consecutive failures for the same reason since the last event. */
  #failures = 0;
  #reason = '';
  #outage = false;
  /** The time at which the server accepted the current watch. */
  #openedAt: number | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  /**
   * Records that the server accepted a watch at `now`. If it lasts as long as the longest backoff,
   * its failure is the first one: a proxy may cut each watch that is quiet for a minute.
   */
  opened(now: number): void {
    this.#openedAt = now;
  }

  /** @returns milliseconds to wait before the next attempt */
  failed(failure: WatchFailure, now: number): number {
    this.failure = failure.message;
    if (now - (this.#openedAt ?? now) >= MAX_BACKOFF_MS) this.#failures = 0;
    this.#openedAt = undefined;
    if (failure.outage) this.#outage = true;
    // Another reason starts its own backoff. A version that expired during an outage is not a
    // further outage.
    if (failure.reason !== this.#reason) this.#failures = 0;
    this.#reason = failure.reason;
    const maxMs = failure.reason === 'unreachable' ? MAX_UNREACHABLE_BACKOFF_MS : MAX_BACKOFF_MS;
    const backoff = { firstMs: FIRST_BACKOFF_MS, maxMs, random: this.#random };
    const wait = Math.max(backoffDelay(this.#failures, backoff), failure.retryAfter);
    this.#failures += 1;
    return wait;
  }

  /** Records an event, or the regular end of a watch. */
  progressed(): void {
    this.#failures = 0;
  }

  /**
   * Records that the watch works. @returns whether that ends an outage of the server, in which
   * other calls failed, too
   */
  recovered(): boolean {
    this.failure = undefined;
    const wasOutage = this.#outage;
    this.#outage = false;
    return wasOutage;
  }
}
