// SPDX-License-Identifier: Apache-2.0
import { LETS_ENCRYPT, OrderBudgets, ChallengeScheduler } from '../../../acme-orders/index.ts';
import type {
  ChallengeMemory,
  ChallengeRecord,
  OrderMemory,
  OrderRecord,
} from '../../../acme-orders/record.ts';

/** Until when a server wants no call of an account: its Retry-After concerns every object of the account. */
class AccountGate {
  readonly #until = new Map<string, number>();

  /** Until when the account waits; undefined where it does not. Milliseconds since 1970. */
  until(account: string, now: number): number | undefined {
    const until = this.#until.get(account);
    if (until === undefined || until > now) return until;
    this.#until.delete(account);
    return undefined;
  }

  /** A later time counts, an earlier one does not. */
  pause(account: string, until: number): void {
    this.#until.set(account, Math.max(until, this.#until.get(account) ?? 0));
  }
}

/** Slots for Challenges of all signers together. */
const SLOTS = 60;

/** An Order or a Challenge as this process knows it. Its record is ahead of its status while that is not written. */
interface Held<R, M> {
  record: R;
  memory: M;
}

/** An Order, and what only this process knows of it. */
export interface HeldOrder extends Held<OrderRecord, OrderMemory> {
  /** Whether its status is known to be the latest: an earlier leader may have written what our watch has not shown. */
  isFresh: boolean;
  /** When its Challenges were deleted: our watch shows it later. Milliseconds since 1970. */
  cleanedUpAt?: number;
}

/** A Challenge, and what only this process knows of it. */
export interface HeldChallenge extends Held<ChallengeRecord, ChallengeMemory> {
  /** Since when acme-solver is to present it. Milliseconds since 1970. */
  solverAskedAt?: number;
  /** Whether it was reported that what it presented stays. */
  isLeft?: boolean;
}

/**
 * What a leader knows beside the statuses. It ends with its term: the next leader reads the server before it repeats a
 * call. By uid.
 */
export interface Term {
  readonly scheduler: ChallengeScheduler;
  readonly budgets: OrderBudgets;
  readonly gate: AccountGate;
  readonly orders: Map<string, HeldOrder>;
  readonly challenges: Map<string, HeldChallenge>;
  /** Challenges that have a slot, written or not. */
  readonly slots: Set<string>;
  /** Orders that may make their order now. */
  readonly granted: Set<string>;
  /** When an Order read each authorization as pending: a Challenge need not ask again at once. */
  readonly readAt: Map<string, number>;
  /** Milliseconds since 1970, by the API server's clock. */
  readonly beganAt: number;
}

/** The limits that a CA publishes, by the URL of an account. */
function ratesOf(account: string): typeof LETS_ENCRYPT {
  const { hostname } = new URL(account);
  return hostname === 'acme-v02.api.letsencrypt.org' ? LETS_ENCRYPT : {};
}

export function beginTerm(now: number): Term {
  return {
    scheduler: new ChallengeScheduler(SLOTS),
    budgets: new OrderBudgets(ratesOf),
    gate: new AccountGate(),
    orders: new Map(),
    challenges: new Map(),
    slots: new Set(),
    granted: new Set(),
    readAt: new Map(),
    beganAt: now,
  };
}
