// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '#base/bounded-map.ts';

/** One written Event, and the number of its repetitions. */
export interface SeriesEntry {
  readonly name: string;
  readonly namespace: string;
  /** The creation time of its Event, in milliseconds of the local clock. */
  readonly startedAt: number;
  count: number;
  /**
   * The time at which its count was written last, in milliseconds of the local clock. Owned by the
   * series.
   */
  writtenAt: number;
}

/**
 * The recently written Events by their content. A repetition increments the `series.count` of the
 * first Event (events.k8s.io/v1) and creates no new one.
 */
export interface EventSeries {
  /** @returns undefined if a repetition is a new Event */
  find(key: string, now: number): SeriesEntry | undefined;
  begin(key: string, at: Pick<SeriesEntry, 'name' | 'namespace'>, now: number): SeriesEntry;
  /** Counts one more. @returns whether the count must be written */
  repeat(entry: SeriesEntry, now: number): boolean;
  forget(key: string): void;
}

/**
 * A later repetition is a new Event. This is well within the hour for which the API server keeps
 * Events.
 */
const SERIES_MS = 10 * 60_000;
/** The interval between writes of a count. The first write of a series happens at once. */
const SERIES_WRITE_MS = 60_000;
/**
 * The limit of series, which bounds memory. The oldest is dropped, and its repetition is a new
 * Event.
 */
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
