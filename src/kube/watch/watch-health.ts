// SPDX-License-Identifier: Apache-2.0
import type { Random } from '../../ports.ts';
import { backoffDelay } from '../wait/backoff.ts';
import type { WatchFailure } from './watch-error.ts';

/** As client-go's reflector: 0.8 s doubling to 30 s. */
const FIRST_BACKOFF_MS = 800;
const MAX_BACKOFF_MS = 30_000;
/** Waiting does not spare a server that does not answer, and pods wait for us when it is back. */
const MAX_UNREACHABLE_BACKOFF_MS = 5_000;

/** Whether the watch of one reflector works, and how long to wait after a failure. Not shared. */
export class WatchHealth {
  /** The last error while there is no working watch. */
  failure: string | undefined;
  readonly #random: Random;
  /** Failures for the same reason since the last event. */
  #failures = 0;
  #reason = '';
  #outage = false;

  constructor(random: Random) {
    this.#random = random;
  }

  /** @returns milliseconds to wait before the next attempt */
  failed(failure: WatchFailure): number {
    this.failure = failure.message;
    if (failure.outage) this.#outage = true;
    // Another reason starts its own backoff: a version that expired during an outage is no further outage.
    if (failure.reason !== this.#reason) this.#failures = 0;
    this.#reason = failure.reason;
    const maxMs = failure.reason === 'unreachable' ? MAX_UNREACHABLE_BACKOFF_MS : MAX_BACKOFF_MS;
    const backoff = { firstMs: FIRST_BACKOFF_MS, maxMs, random: this.#random };
    const wait = Math.max(backoffDelay(this.#failures, backoff), failure.retryAfter);
    this.#failures += 1;
    return wait;
  }

  /** An event arrived, or a watch ended as it should. */
  progressed(): void {
    this.#failures = 0;
  }

  /** The watch works. @returns whether that ends an outage of the server, in which other calls failed, too */
  recovered(): boolean {
    this.failure = undefined;
    const wasOutage = this.#outage;
    this.#outage = false;
    return wasOutage;
  }
}
