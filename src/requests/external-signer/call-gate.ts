// SPDX-License-Identifier: Apache-2.0
/** The limiter of a foreign CA: decides when a call may start, however many requests wait. */
import type { Clock, Delay, Random } from '#base/ports.ts';
import { backoffDelay } from '#kube/wait/backoff.ts';
import { WaitingLine, type WaitingCaller } from './waiting-line.ts';

/**
 * Outcome of a call, from the point of view of the CA's load:
 *
 * - `answered`: the CA can take one call more at once
 * - `answer-refused`: the next call goes alone, since it may be refused as well
 * - `unused`: no call was made
 * - `throttled`, `unavailable`: all calls wait for a while
 */
export type CallEnd = 'answered' | 'answer-refused' | 'unused' | PauseCause;

type PauseCause = 'throttled' | 'unavailable';

/** A started call. */
export interface CallTurn {
  /** Ends the call, once. */
  readonly end: (how: CallEnd, retryAfterMs?: number) => void;
}

/** Limits the calls of one CA. */
export interface CallGate {
  /**
   * Waits for a turn. Returns `paused` while the CA is paused ({@link pausedUntil}), and `busy` if
   * enough calls wait. The gate then wakes the caller in its turn, unless a pause begins.
   */
  readonly enter: (caller: WaitingCaller) => Promise<CallTurn | 'paused' | 'busy'>;
  /** Reports that a caller needs no call now. Another one then has its place. */
  readonly leave: (caller: Pick<WaitingCaller, 'id' | 'flow'>) => void;
  /** Milliseconds since 1970 by our clock until which no call starts. Undefined if it is open. */
  readonly pausedUntil: () => number | undefined;
}

export interface CallGateInit {
  readonly clock: Clock;
  readonly delay: Delay;
  readonly random: Random;
  /** Called with the time until which the CA is paused. */
  readonly onPause: (until: number, how: PauseCause) => void;
}

/** Concurrent calls. With these, a Vault on two cores signs hundreds of certificates a second. */
const MAX_ORDERS_AT_ONCE = 8;
/**
 * Callers that wait inside the gate. Each holds a worker of its loop, which the requests of other
 * CAs need.
 */
const MAX_AT_GATE = 8;
/** Pause after a call that the CA did not serve, doubled for each further one. */
const FIRST_PAUSE_MS = 1_000;
/** Limit on that pause. */
const MAX_PAUSE_MS = 120_000;
/** Longest pause that a server may request. */
const MAX_REQUESTED_PAUSE_MS = 3_600_000;

/**
 * Creates an open gate. One call goes first. Each answer allows one more at once, up to the limit.
 * A call that the CA did not serve pauses all: afterwards one call goes first again.
 */
export function createCallGate({ clock, delay, random, onPause }: CallGateInit): CallGate {
  const pause = new Pause(clock, random);
  let running = 0;
  let allowed = 1;
  const waiting: ((turn: CallTurn | 'paused') => void)[] = [];
  const line = new WaitingLine({ delay, places: () => MAX_AT_GATE - waiting.length });

  function turn(): CallTurn {
    running += 1;
    let isOpen = true;
    return {
      end: (how, retryAfterMs = 0) => {
        if (!isOpen) return;
        isOpen = false;
        running -= 1;
        if (how === 'throttled' || how === 'unavailable') unserved(how, retryAfterMs);
        else if (how !== 'unused') answered(how);
        next();
      },
    };
  }

  function answered(how: 'answered' | 'answer-refused'): void {
    pause.forgetFailures();
    allowed = how === 'answered' ? Math.min(allowed + 1, MAX_ORDERS_AT_ONCE) : 1;
  }

  function unserved(how: PauseCause, retryAfterMs: number): void {
    allowed = 1;
    onPause(pause.lengthen(retryAfterMs), how);
  }

  function next(): void {
    if (pause.until() !== undefined) {
      for (const resolve of waiting.splice(0)) resolve('paused');
      // The check after the pause wakes all requests.
      line.clear();
    }
    while (running < allowed) {
      const resolve = waiting.shift();
      if (resolve === undefined) break;
      resolve(turn());
    }
    line.wake();
  }

  return {
    enter: (caller) => {
      if (pause.until() !== undefined) return Promise.resolve('paused');
      const mayOvertake = line.mayOvertake(caller);
      if (mayOvertake && running < allowed) return Promise.resolve(turn());
      if (mayOvertake && waiting.length < MAX_AT_GATE)
        return new Promise((resolve) => waiting.push(resolve));
      if (mayOvertake) line.addFirst(caller);
      else line.add(caller);
      if (running < allowed) line.wake();
      return Promise.resolve('busy');
    },
    leave: (caller) => {
      line.remove(caller);
      line.wake();
    },
    pausedUntil: pause.until,
  };
}

/** The pause of all calls after calls that the CA did not serve. */
class Pause {
  readonly #clock: Clock;
  readonly #random: Random;
  #from = 0;
  #until = 0;
  #failures = 0;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Returns its end while it lasts. A clock that is set back ends it, and must not prolong it. */
  readonly until = (): number | undefined => {
    const now = this.#clock();
    // It does not begin again when the clock reaches its time a second time.
    if (now < this.#from) this.#until = 0;
    return now < this.#until ? this.#until : undefined;
  };

  forgetFailures(): void {
    this.#failures = 0;
  }

  /** Begins or prolongs it after a call. Returns its end. */
  lengthen(retryAfterMs: number): number {
    const now = this.#clock();
    // Calls that ran side by side fail for one cause, which counts once.
    if (this.until() === undefined) {
      const init = { firstMs: FIRST_PAUSE_MS, maxMs: MAX_PAUSE_MS, random: this.#random };
      this.#from = now;
      this.#until = now + backoffDelay(this.#failures, init);
      this.#failures += 1;
    }
    this.#until = Math.max(this.#until, now + Math.min(retryAfterMs, MAX_REQUESTED_PAUSE_MS));
    return this.#until;
  }
}
