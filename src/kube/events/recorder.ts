// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import type { Clock, Delay, Log, Random } from '#base/ports.ts';
import type { Client } from '../client/client.ts';
import { EventBudget } from './budget.ts';
import { EVENTS, eventBody, type EventDetails } from './body.ts';
import { createEventSender, type DropCause, type EventSender } from './sender.ts';
import { createEventSeries, type SeriesEntry } from './series.ts';
import { microTime } from '../resource/json.ts';

/** Records Events about objects. Never blocks a decision and never throws. */
export interface EventRecorder {
  /** Records an Event in the background. A repetition increments the count of the first one. */
  record(details: EventDetails): void;
  /**
   * Records an Event about what is about to happen, and waits for the write. Its name is derived
   * from its content and `occasion`. If this process or the next one records it again, there is no
   * second Event.
   *
   * @param occasion - identifies the occurrence, and changes with the next one
   * @returns when it is written or given up, and after 2 s at the latest
   */
  recordOnce(details: EventDetails, occasion: string): Promise<void>;
  /** The last call. Resolves when all Events are sent or given up, and after 5 s at the latest. */
  flush(): Promise<void>;
}

/** The dependencies of an {@link EventRecorder}. */
export interface EventRecorderInit {
  readonly client: Client;
  /** `countersign.dev/<component>`. */
  readonly controller: string;
  readonly instance: string;
  readonly clock: Clock;
  readonly delay: Delay;
  readonly random: Random;
  readonly log: Log;
  /** Called for each Event, or count of a series, that was not written. Must not throw. */
  readonly onDropped: (cause: DropCause) => void;
}

/**
 * The rate of Events. People read them: ten a second is more than a person can read, and 10,000
 * requests that wait for one CA must not cause 10,000 writes.
 *
 * Events beyond the rate are dropped, and recorded again with the next retry. Flows share the rate
 * fairly: a tenant whose requests are all rejected must not silence the warnings of others.
 */
const EVENT_BURST = 100;
const EVENTS_PER_SECOND = 10;
/** Limit on the wait of `recordOnce`. Its caller writes next, even if no Event can be written. */
const RECORD_ONCE_MS = 2_000;

/** @returns a recorder that begins to write at once */
export function createEventRecorder(init: EventRecorderInit): EventRecorder {
  return new RateLimitedRecorder(init);
}

class RateLimitedRecorder implements EventRecorder {
  readonly #init: EventRecorderInit;
  readonly #series = createEventSeries();
  readonly #sender: EventSender;
  // Two rates, so that repetitions do not keep out new Events.
  readonly #newEvents: EventBudget;
  readonly #counts: EventBudget;

  constructor(init: EventRecorderInit) {
    this.#init = init;
    this.#sender = createEventSender(init);
    const rate = { burst: EVENT_BURST, perSecond: EVENTS_PER_SECOND, clock: init.clock };
    this.#newEvents = new EventBudget(rate);
    this.#counts = new EventBudget(rate);
  }

  record(details: EventDetails): void {
    const now = this.#init.clock();
    const key = keyFor(details);
    const entry = this.#series.find(key, now);
    if (entry === undefined) this.#create(key, details, now);
    else if (this.#series.repeat(entry, now))
      this.#count(key, { entry, flow: flowOf(details) }, now);
  }

  async recordOnce(details: EventDetails, occasion: string): Promise<void> {
    const { delay, clock, onDropped } = this.#init;
    const flow = flowOf(details);
    if (!this.#newEvents.spend(flow)) {
      onDropped('rate');
      return;
    }
    const { name, namespace } = placeOf(details, digestOf(keyFor(details), occasion));
    const done = new AbortController();
    const sent = new Promise<void>((resolve) => {
      this.#sender.send({
        flow,
        method: 'POST',
        path: EVENTS.collection(namespace),
        body: eventBody(details, { ...this.#init, name, namespace, now: clock() }),
        onSent: resolve,
        onGivenUp: resolve,
      });
    });
    const timeout = delay(RECORD_ONCE_MS, done.signal).catch(() => undefined);
    await Promise.race([sent, timeout]);
    done.abort();
  }

  flush(): Promise<void> {
    return this.#sender.flush();
  }

  #create(key: string, details: EventDetails, now: number): void {
    const flow = flowOf(details);
    if (!this.#newEvents.spend(flow)) {
      this.#init.onDropped('rate');
      this.#init.log.debug({ ...details }, 'Event dropped: rate limit');
      return;
    }
    const unique = now.toString(16) + Buffer.from(this.#init.random(4)).toString('hex');
    const entry = this.#series.begin(key, placeOf(details, unique), now);
    this.#sender.send({
      flow,
      method: 'POST',
      path: EVENTS.collection(entry.namespace),
      body: eventBody(details, { ...this.#init, ...entry, now }),
      // The next record of an unwritten Event creates it.
      onGivenUp: () => {
        this.#series.forget(key);
      },
    });
  }

  #count(
    key: string,
    of: { readonly entry: SeriesEntry; readonly flow: string },
    now: number,
  ): void {
    const { entry, flow } = of;
    if (!this.#counts.spend(flow)) return;
    this.#sender.send({
      flow,
      method: 'PATCH',
      path: EVENTS.object(entry),
      contentType: 'application/merge-patch+json',
      body: { series: { count: entry.count, lastObservedTime: microTime(now) } },
      onGivenUp: () => {
        this.#series.forget(key);
      },
    });
  }
}

function flowOf({ flow, regarding }: EventDetails): string {
  return flow ?? `namespace ${regarding.namespace ?? ''}`;
}

/** Returns the namespace and the name of an Event about an object. */
function placeOf(
  { regarding }: EventDetails,
  unique: string,
): Pick<SeriesEntry, 'name' | 'namespace'> {
  const { name, namespace = 'default' } = regarding;
  return { name: `${nameStem(name)}.${unique}`, namespace };
}

/** The length of the random names. */
const DIGEST_DIGITS = 20;

function digestOf(...texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, DIGEST_DIGITS);
}

function keyFor({ regarding, type, reason, action, note }: EventDetails): string {
  const { namespace = '', name, uid = '' } = regarding;
  return JSON.stringify([namespace, name, uid, type, reason, action, note]);
}

/**
 * The limit of the stem. An Event's name is a DNS subdomain of at most 253 bytes, but some objects'
 * names are not subdomains.
 */
const MAX_EVENT_STEM = 220;

function nameStem(name: string): string {
  const stem = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .slice(0, MAX_EVENT_STEM);
  const trimmed = stem
    .replaceAll(/\.+/g, '.')
    .replace(/^[.-]+/, '')
    .replace(/[.-]+$/, '');
  return trimmed.replaceAll(/-*\.-*/g, '.') || 'event';
}
