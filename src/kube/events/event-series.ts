// SPDX-License-Identifier: Apache-2.0

/** One Event that was written, and how often the same was said since. */
export interface Said {
  readonly name: string;
  readonly namespace: string;
  readonly since: number;
  count: number;
  /** When the count was written last. Owned by the series. */
  written: number;
}

/** What was said lately, so that the same said again only counts up (series of events.k8s.io). */
export interface EventSeries {
  find(key: string, now: number): Said | undefined;
  begin(key: string, at: Pick<Said, 'name' | 'namespace'>, now: number): Said;
  /** Counts; true when the count is to be written. */
  repeat(said: Said, now: number): boolean;
  forget(key: string): void;
}

/** The same said later than this is a new Event: well before the API server's hour of keeping them. */
export const SERIES_MS = 10 * 60_000;
/** A count is written at once when a series begins, and then at most this often. */
export const SERIES_WRITE_MS = 60_000;
/** The oldest are forgotten beyond this: memory stays bounded, and a repetition is a new Event. */
export const MAX_REMEMBERED = 5_000;

export function createEventSeries(): EventSeries {
  const known = new Map<string, Said>();

  function drop(now: number): void {
    // In the order of `since`, which never changes: the first that is young ends the search.
    for (const [key, { since }] of known) {
      if (known.size < MAX_REMEMBERED && now - since <= SERIES_MS) return;
      known.delete(key);
    }
  }

  return {
    find: (key, now) => {
      const said = known.get(key);
      return said === undefined || now - said.since > SERIES_MS ? undefined : said;
    },
    begin: (key, at, now) => {
      drop(now);
      const said = { ...at, since: now, count: 1, written: now };
      known.delete(key);
      known.set(key, said);
      return said;
    },
    repeat: (said, now) => {
      said.count += 1;
      // A series has at least two (validation of events.k8s.io/v1).
      if (said.count > 2 && now - said.written < SERIES_WRITE_MS) return false;
      said.written = now;
      return true;
    },
    forget: (key) => {
      known.delete(key);
    },
  };
}
