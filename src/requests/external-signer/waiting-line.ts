// SPDX-License-Identifier: Apache-2.0
/** The line before the gate of a CA with too many calls. Flows take turns. */
import type { Delay } from '#base/ports.ts';

/** A request that wants to call the CA. */
export interface WaitingCaller {
  readonly id: string;
  /** Requests of one flow wait behind each other. */
  readonly flow: string;
  /** Makes the request come again. */
  readonly wake: () => void;
}

export interface WaitingLineInit {
  readonly delay: Delay;
  /** Returns how many callers may come now. */
  readonly places: () => number;
  /** Reports whether no call runs, so that no end of a call wakes a caller. */
  readonly isIdle: () => boolean;
}

/** Delay after which an idle gate wakes more callers: the woken ones may need no call now. */
const IDLE_GATE_MS = 1_000;

/** Callers that hold nothing while they wait. */
export class WaitingLine {
  readonly #init: WaitingLineInit;
  /** Flows in the order of their turns, each with its callers by their ids. */
  readonly #flows = new Map<string, Map<string, WaitingCaller>>();
  /** Callers that were woken, and may overtake the line. */
  readonly #woken = new Set<string>();
  #isWatched = false;

  constructor(init: WaitingLineInit) {
    this.#init = init;
  }

  /** Reports whether a caller may take a free place before those that wait. */
  mayOvertake({ id }: WaitingCaller): boolean {
    return this.#woken.delete(id) || this.#flows.size === 0;
  }

  /** Adds a caller. One that waits already keeps its place. */
  add(caller: WaitingCaller): void {
    const callers = this.#flows.get(caller.flow) ?? new Map<string, WaitingCaller>();
    this.#flows.set(caller.flow, callers);
    callers.set(caller.id, caller);
  }

  /** Wakes as many callers as there are places. */
  wake(): void {
    for (let places = this.#init.places(); places > 0; places -= 1) {
      const caller = this.#shift();
      if (caller === undefined) break;
      this.#woken.add(caller.id);
      caller.wake();
    }
    if (this.#flows.size === 0) this.#woken.clear();
    else if (this.#init.isIdle()) this.#watch();
  }

  clear(): void {
    this.#flows.clear();
    this.#woken.clear();
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

  /** Wakes more callers later if none of the woken ones comes. */
  #watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    void this.#init.delay(IDLE_GATE_MS).then(() => {
      this.#isWatched = false;
      if (this.#init.isIdle()) this.wake();
    });
  }
}
