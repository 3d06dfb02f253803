// SPDX-License-Identifier: Apache-2.0
/** The line before the gate of a CA with too many calls. Flows take turns. */
import type { Delay } from '#base/ports.ts';

/** A request that wants to call the CA. */
export interface WaitingCaller {
  readonly id: string;
  /** Requests of one flow wait behind each other. */
  readonly flow: string;
  /** Makes the request come again. Returns false if the request needs no call now. */
  readonly wake: () => boolean;
}

export interface WaitingLineInit {
  readonly delay: Delay;
  /** Returns how many callers may come now. */
  readonly places: () => number;
}

/** Time for which a woken caller has a place. It may need no call any more. */
const PLACE_MS = 1_000;

/** Callers that hold nothing while they wait. */
export class WaitingLine {
  readonly #init: WaitingLineInit;
  /** Flows in the order of their turns, each with its callers by their ids. */
  readonly #flows = new Map<string, Map<string, WaitingCaller>>();
  /** Callers that were woken, and may overtake the line. */
  readonly #woken = new Set<string>();
  /** Those of them that have a place. */
  readonly #coming = new Set<string>();
  #isWatched = false;

  constructor(init: WaitingLineInit) {
    this.#init = init;
  }

  /** Reports whether a caller that comes may take a free place before those that wait. */
  mayOvertake({ id }: WaitingCaller): boolean {
    this.#coming.delete(id);
    return this.#woken.delete(id) || this.#flows.size === 0;
  }

  /** Adds a caller. One that waits already keeps its place. */
  add(caller: WaitingCaller): void {
    const callers = this.#flows.get(caller.flow) ?? new Map<string, WaitingCaller>();
    this.#flows.set(caller.flow, callers);
    callers.set(caller.id, caller);
  }

  /** Adds a caller before all others of its flow, since it had its turn and found no place. */
  addFirst(caller: WaitingCaller): void {
    const others = this.#flows.get(caller.flow) ?? [];
    this.#flows.set(caller.flow, new Map([[caller.id, caller], ...others]));
  }

  /** Removes a caller that needs no call now. */
  remove({ id, flow }: Pick<WaitingCaller, 'id' | 'flow'>): void {
    this.#coming.delete(id);
    this.#woken.delete(id);
    const callers = this.#flows.get(flow);
    callers?.delete(id);
    if (callers?.size === 0) this.#flows.delete(flow);
  }

  /** Wakes as many callers as there are places. */
  wake(): void {
    while (this.#init.places() > this.#coming.size) {
      const caller = this.#shift();
      if (caller === undefined) break;
      this.#woken.add(caller.id);
      this.#coming.add(caller.id);
      if (!caller.wake()) this.remove(caller);
    }
    if (this.#coming.size > 0) this.#watch();
    else if (this.#flows.size === 0) this.#woken.clear();
  }

  clear(): void {
    this.#flows.clear();
    this.#woken.clear();
    this.#coming.clear();
  }

  /** Removes the first caller of the flow whose turn it is. */
  #shift(): WaitingCaller | undefined {
    for (const [flow, callers] of this.#flows) {
      this.#flows.delete(flow);
      for (const caller of callers.values()) {
        callers.delete(caller.id);
        if (callers.size > 0) this.#flows.set(flow, callers);
        return caller;
      }
    }
    return undefined;
  }

  /** Gives the places of woken callers that did not come to others. */
  #watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    void this.#init.delay(PLACE_MS).then(() => {
      this.#isWatched = false;
      this.#coming.clear();
      this.wake();
    });
  }
}
