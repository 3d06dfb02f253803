// SPDX-License-Identifier: Apache-2.0
/** What waits for one target: bounded, and fair among flows. */

/** What an event says of the progress of its target, once it is delivered. */
export type Mark =
  | { readonly kind: 'version'; readonly resource: string; readonly version: bigint }
  | { readonly kind: 'due'; readonly at: number }
  | { readonly kind: 'state'; readonly key: string };

/** An event on its way. */
export interface Outgoing {
  readonly id: string;
  readonly body: string;
  /** Flows take turns: a namespace or a user. */
  readonly flow: string;
  readonly mark: Mark;
  /** Milliseconds since 1970, when it was put here. */
  readonly since: number;
}

/** What an outbox may hold. */
export interface OutboxLimits {
  readonly events: number;
  /** UTF-16 units of their bodies. */
  readonly size: number;
}

/** What waits of one flow. */
interface Flow {
  readonly waiting: Outgoing[];
  /** How many are being sent. */
  sending: number;
  /** Of its events, one after the other, since one was taken. */
  failures: number;
  restsUntil: number;
}

const newFlow = (): Flow => ({ waiting: [], sending: 0, failures: 0, restsUntil: 0 });
const NO_FLOW: Flow = newFlow();

/**
 * Holds events until they are delivered. Flows take turns, and where it is full the flow that has most loses its oldest: a
 * tenant that floods it loses events of its own. A flow whose event is not taken rests alone. An event is in it, also while
 * it is being sent, until {@link done}.
 */
export class Outbox {
  readonly #limits: OutboxLimits;
  /** In the order of their turns. */
  readonly #flows = new Map<string, Flow>();
  readonly #sending = new Set<Outgoing>();
  #waiting = 0;
  #size = 0;

  constructor(limits: OutboxLimits) {
    this.#limits = limits;
  }

  /** How many are in it. */
  get length(): number {
    return this.#waiting + this.#sending.size;
  }

  /** Puts an event behind those of its flow. @returns what had to go for it */
  push(event: Outgoing): readonly Outgoing[] {
    this.#append(event);
    this.#size += event.body.length;
    const dropped: Outgoing[] = [];
    while (this.#waiting > 0 && this.#isOver()) dropped.push(this.#dropOldest(event.flow));
    return dropped;
  }

  /** The next in turn, which is being sent from now on; nothing if none waits that may go now. */
  next(now: number): Outgoing | undefined {
    for (const [name, flow] of this.#flows) {
      const event = isHeld(flow, now) ? undefined : flow.waiting.shift();
      if (event === undefined) continue;
      this.#flows.delete(name);
      this.#flows.set(name, flow);
      flow.sending += 1;
      this.#waiting -= 1;
      this.#sending.add(event);
      return event;
    }
    return undefined;
  }

  /** When the first flow that rests has an event that may go. */
  restsUntil(): number {
    const ends = [...this.#flows.values()].filter(({ waiting }) => waiting.length > 0);
    return Math.min(...ends.map((flow) => flow.restsUntil));
  }

  /** It was delivered, or given up. */
  done(event: Outgoing): void {
    const flow = this.#returned(event);
    if (flow === undefined) return;
    this.#size -= event.body.length;
    flow.failures = 0;
    this.#forgetEmpty(event.flow, flow);
  }

  /** It is tried again, when others of its flow have had their turn. */
  back(event: Outgoing): void {
    if (this.#returned(event) !== undefined) this.#append(event);
  }

  /**
   * It is tried again, and its flow rests until then.
   *
   * @param restMs - how long, by the failures of the flow before this one
   */
  rest(event: Outgoing, now: number, restMs: (failures: number) => number): void {
    const flow = this.#returned(event);
    if (flow === undefined) return;
    this.#append(event);
    flow.restsUntil = Math.max(flow.restsUntil, now + restMs(flow.failures));
    flow.failures += 1;
  }

  /** Takes out what has waited since before `time`. */
  takeOlder(time: number): readonly Outgoing[] {
    const taken: Outgoing[] = [];
    for (const [name, flow] of [...this.#flows]) {
      const old = flow.waiting.filter((each) => each.since < time);
      if (old.length === 0) continue;
      taken.push(...old);
      flow.waiting.splice(0, Infinity, ...flow.waiting.filter((each) => each.since >= time));
      this.#forgetEmpty(name, flow);
    }
    for (const { body } of taken) this.#size -= body.length;
    this.#waiting -= taken.length;
    return taken;
  }

  /** What is being sent now is not tried again, either. */
  clear(): void {
    this.#flows.clear();
    this.#sending.clear();
    this.#waiting = 0;
    this.#size = 0;
  }

  /** All that is in it. */
  *pending(): Iterable<Outgoing> {
    for (const { waiting } of this.#flows.values()) yield* waiting;
    yield* this.#sending;
  }

  #isOver(): boolean {
    return this.length > this.#limits.events || this.#size > this.#limits.size;
  }

  #append(event: Outgoing): void {
    const flow = this.#flows.get(event.flow) ?? newFlow();
    flow.waiting.push(event);
    this.#flows.set(event.flow, flow);
    this.#waiting += 1;
  }

  /** The flow of an event that was being sent. */
  #returned(event: Outgoing): Flow | undefined {
    if (!this.#sending.delete(event)) return undefined;
    const flow = this.#flows.get(event.flow);
    if (flow !== undefined) flow.sending -= 1;
    return flow;
  }

  #forgetEmpty(name: string, { waiting, sending }: Flow): void {
    if (waiting.length === 0 && sending === 0) this.#flows.delete(name);
  }

  /** Of the flow that has most; of equals, of the one that has just got one more. */
  #dropOldest(newest: string): Outgoing {
    let [name, longest] = [newest, this.#flows.get(newest) ?? NO_FLOW];
    for (const [each, flow] of this.#flows)
      if (flow.waiting.length > longest.waiting.length) [name, longest] = [each, flow];
    const dropped = longest.waiting.shift() as Outgoing;
    this.#forgetEmpty(name, longest);
    this.#waiting -= 1;
    this.#size -= dropped.body.length;
    return dropped;
  }
}

/** After a failure one event shows whether the others are taken. */
function isHeld({ restsUntil, failures, sending }: Flow, now: number): boolean {
  return restsUntil > now || (failures > 0 && sending > 0);
}
