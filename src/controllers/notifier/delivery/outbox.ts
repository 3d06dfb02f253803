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

/**
 * Holds events until they are delivered. Flows take turns, and where it is full the flow that has most loses its oldest: a
 * tenant that floods it loses events of its own. An event is in it, also while it is being sent, until {@link done}.
 */
export class Outbox {
  readonly #limits: OutboxLimits;
  /** In the order of their turns. */
  readonly #flows = new Map<string, Outgoing[]>();
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

  /** The next in turn, which is being sent from now on; nothing if none waits. */
  next(): Outgoing | undefined {
    const [first] = this.#flows;
    if (first === undefined) return undefined;
    const [flow, events] = first;
    this.#flows.delete(flow);
    const event = events.shift();
    if (events.length > 0) this.#flows.set(flow, events);
    if (event === undefined) return undefined;
    this.#waiting -= 1;
    this.#sending.add(event);
    return event;
  }

  /** It was delivered, or given up. */
  done(event: Outgoing): void {
    if (this.#sending.delete(event)) this.#size -= event.body.length;
  }

  /** It is tried again, when others of its flow have had their turn. */
  back(event: Outgoing): void {
    if (this.#sending.delete(event)) this.#append(event);
  }

  /** Takes out what has waited since before `time`. */
  takeOlder(time: number): readonly Outgoing[] {
    const taken: Outgoing[] = [];
    for (const [flow, events] of [...this.#flows]) {
      const kept = events.filter((each) => each.since >= time);
      if (kept.length === events.length) continue;
      taken.push(...events.filter((each) => each.since < time));
      if (kept.length === 0) this.#flows.delete(flow);
      else this.#flows.set(flow, kept);
    }
    for (const { body } of taken) this.#size -= body.length;
    this.#waiting -= taken.length;
    return taken;
  }

  clear(): void {
    this.#flows.clear();
    this.#waiting = 0;
    this.#size = [...this.#sending].reduce((sum, { body }) => sum + body.length, 0);
  }

  /** All that is in it. */
  *pending(): Iterable<Outgoing> {
    for (const events of this.#flows.values()) yield* events;
    yield* this.#sending;
  }

  #isOver(): boolean {
    return this.length > this.#limits.events || this.#size > this.#limits.size;
  }

  #append(event: Outgoing): void {
    const events = this.#flows.get(event.flow);
    if (events === undefined) this.#flows.set(event.flow, [event]);
    else events.push(event);
    this.#waiting += 1;
  }

  /** Of the flow that has most; of equals, of the one that has just got one more. */
  #dropOldest(newest: string): Outgoing {
    let [flow, longest] = [newest, this.#flows.get(newest) ?? []];
    for (const [name, events] of this.#flows)
      if (events.length > longest.length) [flow, longest] = [name, events];
    const dropped = longest.shift() as Outgoing;
    if (longest.length === 0) this.#flows.delete(flow);
    this.#waiting -= 1;
    this.#size -= dropped.body.length;
    return dropped;
  }
}
