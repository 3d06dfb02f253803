// SPDX-License-Identifier: Apache-2.0

/** Turns of an account's certificates to request their windows. */
interface Turn {
  /** Key of the Order whose turn it is. */
  holder: string | undefined;
  /** Earliest time of the next request, in milliseconds since 1970. */
  from: number;
  /** Consecutive failures of the server. */
  failures: number;
  /** Keys of waiting Orders, first in first out. */
  readonly waiting: Set<string>;
}

/** A turn in which the server failed. */
interface FailedTurn {
  readonly until: number;
  /** Consecutive failures including this one. */
  readonly failures: number;
}

/** Pause between two requests for an account: an hour is enough for ten thousand certificates. */
const PACE_MS = 250;

/**
 * Limits each account to one request for a window at a time. A failing server gets one request at a
 * time, too.
 */
export class AccountTurns {
  readonly #turns = new Map<string, Turn>();
  readonly #wakeAt: (key: string, at: number) => void;

  /** @param wakeAt - called with the Order whose turn it is, and the time of its turn */
  constructor(wakeAt: (key: string, at: number) => void) {
    this.#wakeAt = wakeAt;
  }

  /**
   * Takes the turn. A caller that gets it must call `end`. @returns whether it may send its request
   * now. Otherwise `wakeAt` is called later
   */
  take(account: string, key: string, now: number): boolean {
    const turn = this.#turns.get(account) ?? newTurn();
    this.#turns.set(account, turn);
    turn.holder ??= key;
    if (turn.holder !== key) {
      turn.waiting.add(key);
      return false;
    }
    if (now >= turn.from) return true;
    this.#wakeAt(key, turn.from);
    return false;
  }

  /** Returns the consecutive failures of the server. */
  failuresOf(account: string): number {
    return this.#turns.get(account)?.failures ?? 0;
  }

  /**
   * Ends the turn after an answer.
   *
   * @param failed - set if the server failed: time of the account's next request, and consecutive
   *   failures
   */
  end(account: string, key: string, now: number, failed?: FailedTurn): void {
    const turn = this.#turns.get(account);
    if (turn?.holder !== key) return;
    turn.failures = failed?.failures ?? 0;
    turn.from = failed?.until ?? now + PACE_MS;
    this.#next(turn);
  }

  /** Removes an Order that needs no turn, also the current one. */
  drop(key: string): void {
    for (const turn of this.#turns.values()) {
      turn.waiting.delete(key);
      if (turn.holder === key) this.#next(turn);
    }
  }

  #next(turn: Turn): void {
    const [next] = turn.waiting;
    turn.holder = next;
    if (next === undefined) return;
    turn.waiting.delete(next);
    this.#wakeAt(next, turn.from);
  }
}

function newTurn(): Turn {
  return { holder: undefined, from: 0, failures: 0, waiting: new Set() };
}
