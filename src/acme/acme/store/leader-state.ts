// SPDX-License-Identifier: Apache-2.0
import { LETS_ENCRYPT, OrderBudgets, ChallengeScheduler } from '#acme/orders/index.ts';
import type { ChallengeMemory, OrderMemory } from '#acme/orders/memory.ts';
import type { WantedShare } from '#acme/orders/turns/budgets.ts';
import type { ChallengeObjectStatus } from '#api/acme/challenge.ts';
import type { OrderObjectStatus } from '#api/acme/order.ts';

/**
 * Pauses of accounts by a server's Retry-After. A limit of a new order or certificate pauses its
 * Order instead.
 */
class AccountGate {
  readonly #until = new Map<string, number>();

  /**
   * Returns the end of the account's pause in milliseconds since 1970, or undefined if it has none.
   */
  until(account: string, now: number): number | undefined {
    const until = this.#until.get(account);
    if (until === undefined || until > now) return until;
    this.#until.delete(account);
    return undefined;
  }

  /** Extends the pause. An earlier time changes nothing. */
  pause(account: string, until: number): void {
    this.#until.set(account, Math.max(until, this.#until.get(account) ?? 0));
  }
}

/** An Order or a Challenge in this process. Its status is ahead of the object's until a write. */
interface HeldObject<S, M> {
  status: S;
  memory: M;
}

/** An Order and the state of it outside its status. */
export interface HeldOrder extends HeldObject<OrderObjectStatus, OrderMemory> {
  /**
   * Whether its status is known to be the latest. An earlier leader may have written one that our
   * watch has not delivered.
   */
  isFresh: boolean;
  /**
   * Time of the deletion of its Challenges, in milliseconds since 1970. Our watch delivers it
   * later.
   */
  cleanedUpAt?: number;
  /** Set during a call to the CA. */
  isCalling?: boolean;
  /** Set from finalize on: the CA may have issued the certificate. */
  isFinalized?: boolean;
}

/** A Challenge and the state of it outside its status. */
export interface HeldChallenge extends HeldObject<ChallengeObjectStatus, ChallengeMemory> {
  /** Time of the request to acme-solver, in milliseconds since 1970. */
  solverAskedAt?: number | undefined;
  /** Whether it has a share of the validations that may fail. */
  hasShare?: boolean;
  /** Whether an Event has reported that its record or file remains. */
  isLeft?: boolean;
}

/**
 * State of a leader outside the statuses, by uid. It ends with the term. The next leader reads the
 * server before it repeats a call.
 */
export interface Term {
  readonly scheduler: ChallengeScheduler;
  readonly budgets: OrderBudgets;
  readonly gate: AccountGate;
  readonly orders: Map<string, HeldOrder>;
  readonly challenges: Map<string, HeldChallenge>;
  /** Challenges that have a slot, written or not. */
  readonly slots: Set<string>;
  /** Ids of granted shares: for orders to create, and for orders to finalize. */
  readonly granted: Set<string>;
  /** Shares of certificates by the uid of their Order, until the CA issues or refuses. */
  readonly reserved: Map<string, WantedShare>;
  /** Milliseconds since 1970, by the API server's clock. */
  readonly beganAt: number;
}

/** Returns the limits that a CA publishes, by the URL of an account. */
function ratesOf(account: string): typeof LETS_ENCRYPT {
  const { hostname } = new URL(account);
  return hostname === 'acme-v02.api.letsencrypt.org' ? LETS_ENCRYPT : {};
}

/** @param slots - for Challenges of all signers together */
export function beginTerm(now: number, slots: number): Term {
  return {
    scheduler: new ChallengeScheduler(slots),
    budgets: new OrderBudgets(ratesOf),
    gate: new AccountGate(),
    orders: new Map(),
    challenges: new Map(),
    slots: new Set(),
    granted: new Set(),
    reserved: new Map(),
    beganAt: now,
  };
}
