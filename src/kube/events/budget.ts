// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '#base/ports.ts';

/**
 * Dynamic thresholds (Choudhury and Hahne, IEEE/ACM Transactions on Networking 6, 1998): a flow may
 * use four times what is left. One flow alone gets all of `most`, and a quarter as much stays for
 * others. Ten greedy flows get an equal share each, and a newcomer finds room at once.
 */
const GREED = 4;

/**
 * Reports whether a flow may take one more of a shared resource. A flow that has none always may,
 * because dozens of greedy flows leave less than a whole one. The caller bounds how many flows have
 * any.
 *
 * @param own - what this flow has taken
 * @param total - what all flows have taken
 * @param most - what one flow may take while it is alone. All flows together may take a quarter
 *   more and one each.
 */
export function hasShare(own: number, total: number, most: number): boolean {
  if (own === 0) return true;
  const capacity = most + most / GREED;
  return total + 1 <= capacity && own + 1 <= GREED * (capacity - total);
}

/**
 * Bounds the number of flows that have any of a resource. That bounds memory, and the sum of their
 * shares.
 */
export const MAX_FLOWS = 4_096;
/** The account of further flows. */
const OTHERS = 'others';

/** The settings of a budget. */
export interface EventBudgetInit {
  /** The number of Events that one flow may record at once while it is alone. */
  readonly burst: number;
  /** The rate of all flows together. */
  readonly perSecond: number;
  /** A clock in milliseconds. If it is set back, the budget does not change. */
  readonly clock: Clock;
}

/**
 * A rate limit that flows share fairly. Each has a leaky bucket, and all drain at the same speed.
 *
 * Together they drain at `perSecond`, so the common limit holds whatever the number of flows. A
 * burst in one flow leaves the others their part (max-min fairness). A flow that has spent nothing
 * always gets one Event.
 */
export class EventBudget {
  readonly #init: EventBudgetInit;
  /** The Events that each flow has spent and not yet regained. Lists only flows that have any. */
  readonly #spent = new Map<string, number>();
  #total = 0;
  #last: number;

  constructor(init: EventBudgetInit) {
    this.#init = init;
    this.#last = init.clock();
  }

  /**
   * Takes one Event from the share of a flow.
   *
   * @returns false if nothing is left
   */
  spend(flow: string): boolean {
    this.#settle();
    const account = this.#spent.has(flow) || this.#spent.size < MAX_FLOWS ? flow : OTHERS;
    const own = this.#spent.get(account) ?? 0;
    if (!hasShare(own, this.#total, this.#init.burst)) return false;
    this.#spent.set(account, own + 1);
    this.#total += 1;
    return true;
  }

  /**
   * Gives each flow its part of the time that passed. Counts whole Events, so that a burst of calls
   * costs little.
   */
  #settle(): void {
    const { clock, perSecond } = this.#init;
    const now = clock();
    if (now < this.#last) this.#last = now;
    let left = ((now - this.#last) * perSecond) / 1000;
    if (left < 1) return;
    this.#last = now;
    const ascending = [...this.#spent].sort(([, a], [, b]) => a - b);
    let flows = ascending.length;
    for (const [flow, spent] of ascending) {
      const back = Math.min(spent, left / flows);
      left -= back;
      flows -= 1;
      if (back === spent) this.#spent.delete(flow);
      else this.#spent.set(flow, spent - back);
    }
    this.#total = [...this.#spent.values()].reduce((sum, each) => sum + each, 0);
  }
}
