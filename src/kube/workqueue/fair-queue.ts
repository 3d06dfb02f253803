// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '#base/bounded-map.ts';
import type { Random } from '#base/ports.ts';
import { createFlows, type Flow, type QueuedItem } from './flows.ts';
import { createHeap } from './heap.ts';

/** The flows and the urgency of an item. In API Priority and Fairness a FlowSchema decides that. */
export interface FlowAssignment {
  /**
   * Flow distinguishers, such as a namespace, a node or a user. Items of one flow are queued behind
   * each other, and flows take turns. Items without any are one flow.
   */
  readonly distinguishers: readonly string[];
  /**
   * The deadline in milliseconds. Items with a deadline are urgent, the earliest deadline first.
   */
  readonly deadline?: number | undefined;
}

/**
 * Hands out items so that a burst in one flow does not delay other flows. It uses fair queuing as
 * API Priority and Fairness does, with its virtual time (KEP-1040) as in start-time fair queuing
 * (Goyal, Vin and Cheng, 1996).
 *
 * - All flows in which items wait take turns. An item of several flows leaves with the flow whose
 *   turn comes first. So the first item of any flow waits for at most one item of each other flow,
 *   however many wait there.
 * - A flow whose items took long (`charge`) has its next turn once the others had as much time.
 *   Flows share the time of the process, not the number of items.
 * - While urgent items wait, every second turn takes the one with the earliest deadline. Urgent
 *   items at most double the wait of the others.
 */
export interface FairQueue<T> {
  readonly push: (item: T, assignment: FlowAssignment) => void;
  readonly shift: () => T | undefined;
  /**
   * Considers the first items of the flows for which `isWanted` is true, and hands out the one
   * whose turn comes first. An item counts to the first of its flows only.
   */
  readonly shiftOf: (isWanted: (distinguisher: string) => boolean) => T | undefined;
  /**
   * Charges a flow for work that blocked the process.
   *
   * @param milliseconds - the turn pays for the first one. More than a second counts as a second.
   */
  readonly charge: (distinguisher: string, milliseconds: number) => void;
  /** The number of waiting items. */
  readonly length: number;
  /** The number of entries in memory, handed out or not: at most a few times `length`. */
  readonly held: number;
}

/** The heap drops items that were handed out when it has this many more of them than of others. */
const MAX_STALE = 64;
const NO_DISTINGUISHER = [''];
/** The cost of each turn, in milliseconds of virtual time. */
const TURN_MS = 1;
/** The largest charge. A clock that was set forward must not keep a flow away for an hour. */
const MAX_CHARGE_MS = 1_000;
/**
 * The number of flows without waiting items that are remembered as ahead of their share. Above it,
 * the oldest is dropped.
 */
const MAX_AHEAD = 4_096;

/** @param random - read once, to seed the hash of flows */
export function createFairQueue<T>(random: Random): FairQueue<T> {
  return new RunningFairQueue<T>(random);
}

class RunningFairQueue<T> implements FairQueue<T> {
  readonly #flows;
  /** Flows in the order of their turns. A flow is in it once, and only while items wait in it. */
  readonly #turns = createHeap<Flow<T>>(
    (a, b) => a.turn < b.turn || (a.turn === b.turn && a.place < b.place),
  );
  /** The next turn of flows that have no items now and had more than their share. */
  readonly #ahead = new BoundedMap<string, number>(MAX_AHEAD);
  /** The virtual time: that of the last turn. */
  #now = 0;
  #places = 0;
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
      if (!this.#active.has(flow)) this.#activate(flow);
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

  readonly shiftOf = (isWanted: (distinguisher: string) => boolean): T | undefined => {
    const others: Flow<T>[] = [];
    let found: QueuedItem<T> | undefined;
    for (let flow = this.#nextFlow(); flow !== undefined; flow = this.#nextFlow()) {
      const first = flow.first();
      if (first?.flows[0] === flow && isWanted(flow.distinguisher)) {
        if (flow.waiting > 1) this.#enqueue(flow, flow.turn + TURN_MS);
        else this.#deactivate(flow);
        found = first;
        break;
      }
      others.push(flow);
    }
    for (const flow of others) this.#turns.push(flow);
    return found && this.#handOut(found);
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

  readonly charge = (distinguisher: string, milliseconds: number): void => {
    const more = Math.min(milliseconds, MAX_CHARGE_MS) - TURN_MS;
    if (!(more > 0)) return;
    const flow = this.#flows.peek(distinguisher);
    if (flow !== undefined) flow.owed += more;
    else this.#ahead.set(distinguisher, this.#nextTurn(distinguisher) + more);
  };

  /** Returns the first item of the flow whose turn it is. */
  #nextInTurn(): QueuedItem<T> | undefined {
    for (let flow = this.#nextFlow(); flow !== undefined; flow = this.#nextFlow()) {
      const next = flow.first();
      if (next !== undefined) this.#now = flow.turn;
      if (next !== undefined && flow.waiting > 1) this.#enqueue(flow, flow.turn + TURN_MS);
      else this.#deactivate(flow);
      if (next !== undefined) return next;
    }
    return undefined;
  }

  /** Takes out the flow whose turn is next. A flow that owes for its work first moves back. */
  #nextFlow(): Flow<T> | undefined {
    let flow = this.#turns.shift();
    for (; flow !== undefined && flow.owed > 0; flow = this.#turns.shift())
      this.#enqueue(flow, flow.turn + flow.owed);
    return flow;
  }

  /**
   * Returns the turn of a flow without items: behind those that wait for this round, or when its
   * charges are paid.
   */
  #nextTurn(distinguisher: string): number {
    return Math.max(this.#now + TURN_MS, this.#ahead.get(distinguisher) ?? 0);
  }

  #enqueue(flow: Flow<T>, turn: number): void {
    flow.turn = turn;
    flow.owed = 0;
    flow.place = this.#places += 1;
    this.#turns.push(flow);
  }

  #activate(flow: Flow<T>): void {
    this.#active.add(flow);
    this.#enqueue(flow, this.#nextTurn(flow.distinguisher));
    this.#ahead.delete(flow.distinguisher);
  }

  #deactivate(flow: Flow<T>): void {
    // Its items left before its turn came: through other flows, or by `shiftOf`.
    if (flow.turn > this.#now + TURN_MS) this.#ahead.set(flow.distinguisher, flow.turn);
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
