// SPDX-License-Identifier: Apache-2.0
import type { Random } from '../../ports.ts';
import { createFifo } from './fifo.ts';
import { createFlows, type Flow, type QueuedItem } from './flows.ts';
import { createHeap } from './heap.ts';

/** What an item's flows and urgency are; in API Priority and Fairness a FlowSchema decides that. */
export interface FlowAssignment {
  /**
   * Flow distinguishers, such as a namespace, a node or a user. Items of one flow are queued behind
   * each other, and flows take turns. Items without any are one flow.
   */
  readonly distinguishers: readonly string[];
  /** In milliseconds; items with a deadline are urgent, the earliest deadline first. */
  readonly deadline?: number | undefined;
}

/**
 * Hands out items so that a burst in one flow does not delay other flows: fair queuing as in API
 * Priority and Fairness.
 *
 * - All flows in which items wait take turns. An item of several flows leaves with the flow whose turn
 *   comes first. So the first item of any flow waits for at most one item of each other flow, however
 *   many wait there.
 * - While urgent items wait, every second turn takes the one with the earliest deadline. Urgent items
 *   at most double the wait of the others.
 */
export interface FairQueue<T> {
  readonly push: (item: T, assignment: FlowAssignment) => void;
  readonly shift: () => T | undefined;
  /** How many items wait. */
  readonly length: number;
  /** How many entries are in memory, handed out or not: at most a few times `length`. */
  readonly held: number;
}

/** The heap drops items that were handed out when this many more of them than of others are in it. */
const MAX_STALE = 64;
const NO_DISTINGUISHER = [''];

/** @param random - read once, to seed the hash of flows */
export function createFairQueue<T>(random: Random): FairQueue<T> {
  return new RunningFairQueue<T>(random);
}

class RunningFairQueue<T> implements FairQueue<T> {
  readonly #flows;
  /** Flows in the order of their turns. A flow is in it once, and only while items wait in it. */
  readonly #turns = createFifo<Flow<T>>();
  readonly #active = new Set<Flow<T>>();
  readonly #urgent = createHeap<QueuedItem<T>>((a, b) => (a.deadline ?? 0) < (b.deadline ?? 0));
  #urgentWaiting = 0;
  #isUrgentTurn = true;
  length = 0;

  constructor(random: Random) {
    this.#flows = createFlows<T>(random);
  }

  readonly push = (item: T, { distinguishers, deadline }: FlowAssignment): void => {
    const names = distinguishers.length === 0 ? NO_DISTINGUISHER : distinguishers;
    const flows = names.map((name) => this.#flows.of(name));
    const queued: QueuedItem<T> = { item, flows, deadline, taken: false };
    for (const flow of flows) {
      flow.push(queued);
      if (!this.#active.has(flow)) this.#turns.push(flow);
      this.#active.add(flow);
    }
    this.length += 1;
    if (deadline === undefined) return;
    this.#urgent.push(queued);
    this.#urgentWaiting += 1;
  };

  readonly shift = (): T | undefined => {
    const urgent = this.#isUrgentTurn ? this.#mostUrgent() : undefined;
    this.#isUrgentTurn = urgent === undefined;
    const next = urgent ?? this.#nextInTurn();
    return next === undefined ? undefined : this.#handOut(next);
  };

  get held(): number {
    let held = this.#urgent.length;
    for (const flow of this.#active) held += flow.held;
    return held;
  }

  #mostUrgent(): QueuedItem<T> | undefined {
    while (this.#urgent.peek()?.taken === true) this.#urgent.shift();
    return this.#urgent.peek();
  }

  /** The first item of the flow whose turn it is. */
  #nextInTurn(): QueuedItem<T> | undefined {
    for (let flow = this.#turns.shift(); flow !== undefined; flow = this.#turns.shift()) {
      const next = flow.first();
      if (next !== undefined && flow.waiting > 1) this.#turns.push(flow);
      else this.#deactivate(flow);
      if (next !== undefined) return next;
    }
    return undefined;
  }

  #deactivate(flow: Flow<T>): void {
    this.#active.delete(flow);
    this.#flows.drop(flow);
  }

  #handOut(queued: QueuedItem<T>): T {
    queued.taken = true;
    this.length -= 1;
    for (const flow of queued.flows) flow.onTaken();
    if (queued.deadline !== undefined) this.#onUrgentTaken();
    return queued.item;
  }

  #onUrgentTaken(): void {
    this.#urgentWaiting -= 1;
    if (this.#urgent.length > 2 * this.#urgentWaiting + MAX_STALE) {
      this.#urgent.retain(({ taken }) => !taken);
    }
  }
}
