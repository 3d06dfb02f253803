// SPDX-License-Identifier: Apache-2.0
/** The queue of one target, bounded and fair among flows. */

/** Progress of the target after the delivery of an event. */
export type Mark =
  | { readonly kind: 'version'; readonly resource: string; readonly version: bigint }
  | { readonly kind: 'due'; readonly at: number }
  | { readonly kind: 'state'; readonly key: string };

/** An event to deliver. */
export interface OutgoingEvent {
  readonly id: string;
  readonly body: string;
  /** Unit of fairness: a namespace or a user. */
  readonly flow: string;
  readonly mark: Mark;
  /** Time at which it was queued, in milliseconds since 1970. */
  readonly since: number;
}

/** Limits of an outbox. */
export interface OutboxLimits {
  readonly events: number;
  /** UTF-16 units of their bodies. */
  readonly size: number;
}

/** The queue of one flow. */
interface Flow {
  readonly waiting: OutgoingEvent[];
  /** Number of events in delivery. */
  sending: number;
  /** Consecutive failures since the last delivery. */
  failures: number;
  restsUntil: number;
}

const newFlow = (): Flow => ({ waiting: [], sending: 0, failures: 0, restsUntil: 0 });
const NO_FLOW: Flow = newFlow();

/**
 * Holds events until they are delivered. Flows take turns. When it is full, the largest flow loses
 * its oldest event, so a tenant that floods it loses its own events. A flow whose event is rejected
 * pauses alone. An event stays, even during delivery, until {@link done}.
 */
export class Outbox {
  readonly #limits: OutboxLimits;
  /** Flows in the order of their turns. */
  readonly #flows = new Map<string, Flow>();
  readonly #sending = new Set<OutgoingEvent>();
  #waiting = 0;
  #size = 0;

  constructor(limits: OutboxLimits) {
    this.#limits = limits;
  }

  /** Number of events, including those in delivery. */
  get length(): number {
    return this.#waiting + this.#sending.size;
  }

  /** Appends an event to its flow. @returns the events that were dropped for it */
  push(event: OutgoingEvent): readonly OutgoingEvent[] {
    this.#append(event);
    this.#size += event.body.length;
    const dropped: OutgoingEvent[] = [];
    while (this.#waiting > 0 && this.#isOver()) dropped.push(this.#dropOldest(event.flow));
    return dropped;
  }

  /**
   * Returns the next event in turn and marks it as in delivery, or undefined if none may go now.
   */
  next(now: number): OutgoingEvent | undefined {
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

  /** Returns the time at which the first paused flow with events may continue. */
  restsUntil(): number {
    const ends = [...this.#flows.values()].filter(({ waiting }) => waiting.length > 0);
    return Math.min(...ends.map((flow) => flow.restsUntil));
  }

  /** Reports whether an event is in delivery. None is after {@link clear}. */
  isSending(event: OutgoingEvent): boolean {
    return this.#sending.has(event);
  }

  /** Removes an event that was delivered or given up. */
  done(event: OutgoingEvent): void {
    const flow = this.#returned(event);
    if (flow === undefined) return;
    this.#size -= event.body.length;
    flow.failures = 0;
    this.#forgetEmpty(event.flow, flow);
  }

  /** Puts an event back at the end of its flow, for a retry. */
  putBack(event: OutgoingEvent): void {
    if (this.#returned(event) !== undefined) this.#append(event);
  }

  /**
   * Puts an event back at the end of its flow, for a retry, and pauses the flow.
   * @param restMs - duration of the pause, by the earlier failures of the flow
   */
  putBackAndPause(event: OutgoingEvent, now: number, restMs: (failures: number) => number): void {
    const flow = this.#returned(event);
    if (flow === undefined) return;
    this.#append(event);
    flow.restsUntil = Math.max(flow.restsUntil, now + restMs(flow.failures));
    flow.failures += 1;
  }

  /** Removes the events that have waited since before `time`. */
  takeOlder(time: number): readonly OutgoingEvent[] {
    const taken: OutgoingEvent[] = [];
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

  /** Removes all events. Those in delivery are not retried, either. */
  clear(): void {
    this.#flows.clear();
    this.#sending.clear();
    this.#waiting = 0;
    this.#size = 0;
  }

  /** Iterates over all events. */
  *pending(): Iterable<OutgoingEvent> {
    for (const { waiting } of this.#flows.values()) yield* waiting;
    yield* this.#sending;
  }

  #isOver(): boolean {
    return this.length > this.#limits.events || this.#size > this.#limits.size;
  }

  #append(event: OutgoingEvent): void {
    const flow = this.#flows.get(event.flow) ?? newFlow();
    flow.waiting.push(event);
    this.#flows.set(event.flow, flow);
    this.#waiting += 1;
  }

  /** Returns the flow of an event that was in delivery. */
  #returned(event: OutgoingEvent): Flow | undefined {
    if (!this.#sending.delete(event)) return undefined;
    const flow = this.#flows.get(event.flow);
    if (flow !== undefined) flow.sending -= 1;
    return flow;
  }

  #forgetEmpty(name: string, { waiting, sending }: Flow): void {
    if (waiting.length === 0 && sending === 0) this.#flows.delete(name);
  }

  /**
   * Drops the oldest event of the largest flow. Among equals, it prefers the flow of the newest
   * event.
   */
  #dropOldest(newest: string): OutgoingEvent {
    let [name, longest] = [newest, this.#flows.get(newest) ?? NO_FLOW];
    for (const [each, flow] of this.#flows)
      if (flow.waiting.length > longest.waiting.length) [name, longest] = [each, flow];
    // The longest flow has an event, since an event was just added.
    const dropped = longest.waiting.shift() as OutgoingEvent;
    this.#forgetEmpty(name, longest);
    this.#waiting -= 1;
    this.#size -= dropped.body.length;
    return dropped;
  }
}

/** Reports whether a flow must wait. After a failure, it sends one event alone as a probe. */
function isHeld({ restsUntil, failures, sending }: Flow, now: number): boolean {
  return restsUntil > now || (failures > 0 && sending > 0);
}
