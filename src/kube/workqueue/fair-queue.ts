// SPDX-License-Identifier: Apache-2.0
import type { Random } from '../../ports.ts';
import { createFifo } from './fifo.ts';
import { createFlows, type Entry, type Flow } from './flows.ts';
import { createHeap } from './heap.ts';

/** Where an item belongs among others. */
export interface FlowAssignment {
  /**
   * The flows that it is of: a namespace, a node, a user. Those of one flow wait behind each other,
   * and the flows take turns. None: it is of one flow with all others that have none.
   */
  readonly distinguishers: readonly string[];
  /** What happens at that time (milliseconds) happens without it: the sooner, the more urgent. */
  readonly deadline?: number | undefined;
}

/**
 * Hands out items so that nobody's storm delays another.
 *
 * All flows in which something waits take turns; an item of several flows goes with whichever has
 * its turn first. So an item that is the first of any of its flows waits for at most as many others
 * as there are flows, however long the others are. A namespace's storm is one flow, and takes one
 * turn of many; so is a node's.
 *
 * Every second turn belongs to the most urgent, while something is urgent: urgency can double a wait,
 * never more.
 */
export interface FairQueue<T> {
  readonly push: (item: T, place: FlowAssignment) => void;
  readonly shift: () => T | undefined;
  readonly length: number;
  /** Entries in memory, those already handed out included: at most a few times `length`. */
  readonly held: number;
}

/** Handed-out entries are cleared from the heap once there are so many more of them than of others. */
const CLEAR_AT = 64;
const NO_FLOW = [''];

export function createFairQueue<T>(random: Random): FairQueue<T> {
  const flows = createFlows<T>(random);
  /** Flows in the order of their turns; a flow is in it once, and only while something waits in it. */
  const turns = createFifo<Flow<T>>();
  const inTurn = new Set<Flow<T>>();
  const urgent = createHeap<Entry<T>>((a, b) => (a.deadline ?? 0) < (b.deadline ?? 0));
  let urgentWaiting = 0;
  let urgentTurn = true;
  let length = 0;

  function hand(entry: Entry<T>): T {
    entry.taken = true;
    length -= 1;
    for (const flow of entry.flows) flow.left();
    if (entry.deadline !== undefined) leaveUrgent();
    return entry.item;
  }

  function leaveUrgent(): void {
    urgentWaiting -= 1;
    if (urgent.length > 2 * urgentWaiting + CLEAR_AT) urgent.retain(({ taken }) => !taken);
  }

  function mostUrgent(): Entry<T> | undefined {
    while (urgent.peek()?.taken === true) urgent.shift();
    return urgent.peek();
  }

  /** The first of the flow whose turn it is. */
  function nextInTurn(): Entry<T> | undefined {
    for (let flow = turns.shift(); flow !== undefined; flow = turns.shift()) {
      const entry = flow.first();
      if (entry !== undefined && flow.waiting > 1) turns.push(flow);
      else retire(flow);
      if (entry !== undefined) return entry;
    }
    return undefined;
  }

  function retire(flow: Flow<T>): void {
    inTurn.delete(flow);
    flows.drop(flow);
  }

  return {
    push: (item, place) => {
      const names = place.distinguishers.length === 0 ? NO_FLOW : place.distinguishers;
      const entry: Entry<T> = {
        item,
        flows: names.map((name) => flows.of(name)),
        deadline: place.deadline,
        taken: false,
      };
      for (const flow of entry.flows) {
        flow.push(entry);
        if (!inTurn.has(flow)) turns.push(flow);
        inTurn.add(flow);
      }
      length += 1;
      if (place.deadline === undefined) return;
      urgent.push(entry);
      urgentWaiting += 1;
    },
    shift: () => {
      const first = urgentTurn ? mostUrgent() : undefined;
      urgentTurn = first === undefined;
      const entry = first ?? nextInTurn();
      return entry === undefined ? undefined : hand(entry);
    },
    get length() {
      return length;
    },
    get held() {
      let held = urgent.length;
      for (const flow of inTurn) held += flow.held;
      return held;
    },
  };
}
