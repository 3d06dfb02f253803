// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../errors.ts';
import type { Clock, Log } from '../ports.ts';
import type { Client } from './client.ts';
import { microTime } from './micro-time.ts';
import { EVENTS, eventBody, type EventNote } from './event-body.ts';

/** Tells people what happens to an object. Never blocks a decision and never throws. */
export interface EventRecorder {
  record(note: EventNote): void;
  /** Resolves when everything recorded so far was sent or given up. */
  flush(): Promise<void>;
}

export interface EventRecorderInit {
  readonly client: Client;
  /** `countersign.dev/<component>`. */
  readonly controller: string;
  readonly instance: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The same thing said again within this time only counts up (series), as events.k8s.io means it. */
const SERIES_MS = 10 * 60_000;
/** A count is written at most this often. */
const SERIES_WRITE_MS = 60_000;
/** Notes beyond this are dropped: people read the newest, and memory must stay bounded. */
const MAX_QUEUED = 1_000;
const MAX_REMEMBERED = 5_000;

interface Said {
  readonly name: string;
  readonly namespace: string;
  count: number;
  readonly since: number;
  written: number;
}

export function createEventRecorder(init: EventRecorderInit): EventRecorder {
  const said = new Map<string, Said>();
  const queue: (() => Promise<void>)[] = [];
  let draining: Promise<void> | undefined;
  let counter = 0;

  async function drain(): Promise<void> {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      try {
        await job();
      } catch (error) {
        init.log.warn({ error: messageOf(error) }, 'an Event could not be written');
      }
    }
    draining = undefined;
  }

  function enqueue(job: () => Promise<void>): void {
    if (queue.length >= MAX_QUEUED) return;
    queue.push(job);
    draining ??= drain();
  }

  function remember(key: string, entry: Said): void {
    said.delete(key);
    said.set(key, entry);
    const [oldest] = said.keys();
    if (said.size > MAX_REMEMBERED && oldest !== undefined) said.delete(oldest);
  }

  function begin(key: string, note: EventNote, now: number): void {
    counter += 1;
    const namespace = note.regarding.namespace ?? 'default';
    const unique = `${now.toString(16)}${(counter % 0x10000).toString(16).padStart(4, '0')}`;
    const name = `${note.regarding.name.replaceAll(/[^a-z0-9.-]/g, '-').slice(0, 200)}.${unique}`;
    remember(key, { name, namespace, count: 1, since: now, written: now });
    const body = eventBody(note, { ...init, name, namespace, now });
    enqueue(async () => {
      await init.client.request({ method: 'POST', path: EVENTS.collection(namespace), body });
    });
  }

  function repeat(entry: Said, now: number): void {
    entry.count += 1;
    if (now - entry.written < SERIES_WRITE_MS && entry.count > 2) return;
    entry.written = now;
    const series = { count: entry.count, lastObservedTime: microTime(now) };
    enqueue(async () => {
      await init.client.request({
        method: 'PATCH',
        path: EVENTS.object(entry),
        contentType: 'application/merge-patch+json',
        body: { series },
      });
    });
  }

  return {
    record: (note) => {
      const now = init.clock();
      const { uid = '', name } = note.regarding;
      const key = `${uid} ${name} ${note.type} ${note.reason} ${note.note}`;
      const entry = said.get(key);
      if (entry === undefined || now - entry.since > SERIES_MS) begin(key, note, now);
      else repeat(entry, now);
    },
    flush: async () => {
      await draining;
    },
  };
}
