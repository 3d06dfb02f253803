// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '../../ports.ts';

/**
 * Dynamic thresholds (Choudhury and Hahne, IEEE/ACM Transactions on Networking 6, 1998): a flow may use four times
 * what is left. One flow alone gets all of `most`, and a quarter as much stays for others; ten greedy flows get an
 * equal share each, and a newcomer finds room at once.
 */
const GREED = 4;

/**
 * Whether a flow may take one more of a shared resource.
 *
 * @param own - what this flow has taken
 * @param total - what all flows have taken
 * @param most - what one flow may take while it is alone; all flows together, a quarter more
 */
export function hasShare(own: number, total: number, most: number): boolean {
  const capacity = most + most / GREED;
  return total + 1 <= capacity && own + 1 <= GREED * (capacity - total);
}

/** A bound for memory. Flows with Events in the last seconds; further ones share one account. */
const MAX_ACCOUNTS = 256;
const OTHERS = 'others';

/** What a budget needs. */
export interface EventBudgetInit {
  /** How many at once one flow may have while it is alone. */
  readonly burst: number;
  /** Of all flows together. */
  readonly perSecond: number;
  /** In milliseconds; one that is set back returns nothing, and takes nothing away. */
  readonly clock: Clock;
}

/**
 * A rate limit that flows share fairly: a leaky bucket each, which all drain at the same speed. Together they drain
 * at `perSecond`, so the limit of all holds whatever the number of flows, and a burst in one flow leaves the others
 * their part (max-min fairness).
 */
export class EventBudget {
  readonly #init: EventBudgetInit;
  /** What each flow has spent and not yet got back; only flows that have any. */
  readonly #spent = new Map<string, number>();
  #total = 0;
  #last: number;

  constructor(init: EventBudgetInit) {
    this.#init = init;
    this.#last = init.clock();
  }

  /** @returns false if the flow has no share left; otherwise one is taken */
  spend(flow: string): boolean {
    this.#settle();
    const account = this.#spent.has(flow) || this.#spent.size < MAX_ACCOUNTS ? flow : OTHERS;
    const own = this.#spent.get(account) ?? 0;
    if (!hasShare(own, this.#total, this.#init.burst)) return false;
    this.#spent.set(account, own + 1);
    this.#total += 1;
    return true;
  }

  /** Gives each flow back its part of the time that passed. In whole Events, so that a burst of calls costs little. */
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
