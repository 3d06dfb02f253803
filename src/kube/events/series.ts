// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../../bounded-map.ts';

/** One Event that was written, and how often the same happened since. */
export interface SeriesEntry {
  readonly name: string;
  readonly namespace: string;
  /** When its Event was created: milliseconds of our clock. */
  readonly startedAt: number;
  count: number;
  /** When its count was written last: milliseconds of our clock. Owned by the series. */
  writtenAt: number;
}

/**
 * The Events that were written recently, by what they say: a repetition increments the `series.count` of
 * the first Event (events.k8s.io/v1) and creates no new one.
 */
export interface EventSeries {
  /** @returns undefined where a repetition is a new Event */
  find(key: string, now: number): SeriesEntry | undefined;
  begin(key: string, at: Pick<SeriesEntry, 'name' | 'namespace'>, now: number): SeriesEntry;
  /** Counts one more. @returns whether the count has to be written */
  repeat(entry: SeriesEntry, now: number): boolean;
  forget(key: string): void;
}

/** A repetition later than this is a new Event: well within the hour for which the API server keeps Events. */
const SERIES_MS = 10 * 60_000;
/** A count is written at once when a series begins, and then at most this often. */
const SERIES_WRITE_MS = 60_000;
/** Beyond it, the oldest is forgotten: memory stays bounded, and its repetition is a new Event. */
const MAX_SERIES = 5_000;

export function createEventSeries(): EventSeries {
  const known = new BoundedMap<string, SeriesEntry>(MAX_SERIES);
  return {
    find: (key, now) => {
      const entry = known.get(key);
      return entry === undefined || now - entry.startedAt > SERIES_MS ? undefined : entry;
    },
    begin: (key, at, now) => {
      const entry = { ...at, startedAt: now, count: 1, writtenAt: now };
      known.set(key, entry);
      return entry;
    },
    repeat: (entry, now) => {
      entry.count += 1;
      // A series has at least two Events (validation of events.k8s.io/v1).
      if (entry.count > 2 && now - entry.writtenAt < SERIES_WRITE_MS) return false;
      entry.writtenAt = now;
      return true;
    },
    forget: (key) => {
      known.delete(key);
    },
  };
}
