// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import type { Clock, Delay, Log, Random } from '../../ports.ts';
import type { Client } from '../client/client.ts';
import { EVENTS, eventBody, type EventDetails } from './body.ts';
import { createEventSender, type DropCause } from './sender.ts';
import { createEventSeries, type SeriesEntry } from './series.ts';
import { createTokenBucket } from '../workqueue/token-bucket.ts';
import { microTime } from '../resource/json.ts';

/** Tells people what happens to an object. Never blocks a decision and never throws. */
export interface EventRecorder {
  record(note: EventDetails): void;
  /**
   * Tells of what is about to become so. Whoever tells it again, this process or the next, makes no
   * second Event of it.
   *
   * @param occasion - what is the same then, and another when the same happens anew
   * @returns when it is written, or given up, or 2 s later: nothing waits for Events longer
   */
  recordOnce(note: EventDetails, occasion: string): Promise<void>;
  /** The last call: resolves when everything recorded was sent or given up, or after 5 s. */
  flush(): Promise<void>;
}

export interface EventRecorderInit {
  readonly client: Client;
  /** `countersign.dev/<component>`. */
  readonly controller: string;
  readonly instance: string;
  readonly clock: Clock;
  readonly delay: Delay;
  readonly random: Random;
  readonly log: Log;
  /** Told of each Event, or count of a series, that was not written. Must not throw. */
  readonly onDropped: (cause: DropCause) => void;
}

/**
 * Events are for people: ten a second is more than anybody reads, and 10,000 requests that wait for
 * one CA must not turn into 10,000 writes. What is over is dropped, and said again with the retry.
 */
const BURST = 100;
const PER_SECOND = 10;
/** A phase of a CA waits so long for its Event, and no longer: Events may be what is broken. */
const TELL_MS = 2_000;

export function createEventRecorder(init: EventRecorderInit): EventRecorder {
  const series = createEventSeries();
  const sender = createEventSender(init);
  const rate = { burst: BURST, perSecond: PER_SECOND, clock: init.clock };
  // Two rates: what is said again and again must not keep out what is new.
  const allowsNew = createTokenBucket(rate);
  const allowsCount = createTokenBucket(rate);

  function create(key: string, note: EventDetails, now: number): void {
    if (!allowsNew()) {
      init.onDropped('rate');
      init.log.debug({ ...note }, 'an Event was left out: there are too many');
      return;
    }
    const said = series.begin(key, nameFor(note, now), now);
    sender.send({
      method: 'POST',
      path: EVENTS.collection(said.namespace),
      body: eventBody(note, { ...init, ...said, now }),
      // What was never told is told anew by the next record.
      onGivenUp: () => series.forget(key),
    });
  }

  async function tell(note: EventDetails, occasion: string): Promise<void> {
    if (!allowsNew()) {
      init.onDropped('rate');
      return;
    }
    const { name, namespace } = place(note, digestOf(keyFor(note), occasion));
    const done = new AbortController();
    const sent = new Promise<void>((resolve) => {
      sender.send({
        method: 'POST',
        path: EVENTS.collection(namespace),
        body: eventBody(note, { ...init, name, namespace, now: init.clock() }),
        onSent: resolve,
        onGivenUp: resolve,
      });
    });
    const patience = init.delay(TELL_MS, done.signal).catch(() => undefined);
    await Promise.race([sent, patience]);
    done.abort();
  }

  function count(key: string, said: SeriesEntry, now: number): void {
    sender.send({
      method: 'PATCH',
      path: EVENTS.object(said),
      contentType: 'application/merge-patch+json',
      body: { series: { count: said.count, lastObservedTime: microTime(now) } },
      onGivenUp: () => series.forget(key),
    });
  }

  function nameFor(note: EventDetails, now: number): Pick<SeriesEntry, 'name' | 'namespace'> {
    return place(note, now.toString(16) + Buffer.from(init.random(4)).toString('hex'));
  }

  return {
    record: (note) => {
      const now = init.clock();
      const key = keyFor(note);
      const said = series.find(key, now);
      if (said === undefined) create(key, note, now);
      else if (series.repeat(said, now) && allowsCount()) count(key, said, now);
    },
    recordOnce: tell,
    flush: sender.flush,
  };
}

function place(
  { regarding }: EventDetails,
  unique: string,
): Pick<SeriesEntry, 'name' | 'namespace'> {
  const { name, namespace = 'default' } = regarding;
  return { name: `${nameStem(name)}.${unique}`, namespace };
}

/** As long as what is random. */
const DIGEST_DIGITS = 20;

function digestOf(...texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, DIGEST_DIGITS);
}

function keyFor({ regarding, type, reason, action, note }: EventDetails): string {
  const { namespace = '', name, uid = '' } = regarding;
  return JSON.stringify([namespace, name, uid, type, reason, action, note]);
}

/** An Event's name is a DNS subdomain of at most 253 bytes; not every object's name is one. */
const MAX_STEM = 220;

function nameStem(name: string): string {
  const stem = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .slice(0, MAX_STEM);
  const trimmed = stem
    .replaceAll(/\.+/g, '.')
    .replace(/^[.-]+/, '')
    .replace(/[.-]+$/, '');
  return trimmed.replaceAll(/-*\.-*/g, '.') || 'event';
}
