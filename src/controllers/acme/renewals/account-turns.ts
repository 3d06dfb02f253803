// SPDX-License-Identifier: Apache-2.0

/** One certificate after the other: who asks for the window of one, and who waits. */
interface Turn {
  /** Key of the Order whose turn it is. */
  holder: string | undefined;
  /** Not before; milliseconds since 1970. */
  from: number;
  /** Answers in a row that were the server's failure. */
  failures: number;
  /** Keys of Orders, in their order. */
  readonly waiting: Set<string>;
}

/** Between two requests for an account: ten thousand certificates are asked for within the hour. */
const PACE_MS = 250;

/** Lets the certificates of an account be asked for one at a time. A server that fails is asked for one of them, too. */
export class AccountTurns {
  readonly #turns = new Map<string, Turn>();
  readonly #wakeAt: (key: string, at: number) => void;

  /** @param wakeAt - it is the turn of this Order, from a time on */
  constructor(wakeAt: (key: string, at: number) => void) {
    this.#wakeAt = wakeAt;
  }

  /** @returns whether it may ask now; else it is woken when it may. Who may ask calls `end`. */
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

  /** How often in a row the server has failed. */
  failuresOf(account: string): number {
    return this.#turns.get(account)?.failures ?? 0;
  }

  /**
   * The turn ends with an answer.
   *
   * @param until - the server failed: nothing of the account is asked before
   */
  end(account: string, key: string, now: number, until?: number): void {
    const turn = this.#turns.get(account);
    if (turn?.holder !== key) return;
    turn.failures = until === undefined ? 0 : turn.failures + 1;
    turn.from = until ?? now + PACE_MS;
    this.#next(turn);
  }

  /** The Order asks no more, whether it is its turn or not. */
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
