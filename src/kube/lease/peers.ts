// SPDX-License-Identifier: Apache-2.0
import { leaseMilliseconds, type Lease } from './lease.ts';

/**
 * Which of the others are there, by their Leases, without network and clock. All times are
 * milliseconds of one monotonic clock of this process: a Lease counts for its duration from the
 * moment when we saw it change, and what others' clocks say is never looked at.
 */
export interface Peers {
  /** The Lease `name` as of `now`; undefined: it is gone. */
  observe(name: string, lease: Lease | undefined, now: number): void;
  /**
   * From `since` until `now` nothing could be heard: whoever was there at `since` is taken to be there
   * still, for one duration more.
   */
  extend(since: number, now: number): void;
  /** Names of those that are there, sorted. */
  live(now: number): readonly string[];
  /** When the next of them runs out, unless it is renewed; undefined when there is none. */
  nextExpiry(now: number): number | undefined;
  /** Leases that have not counted for `ms`. */
  expiredFor(ms: number, now: number): readonly Lease[];
}

export function createPeers(): Peers {
  const known = new Map<string, { readonly lease: Lease; readonly seenAt: number }>();
  const expiryOf = ({ lease, seenAt }: { lease: Lease; seenAt: number }): number =>
    seenAt + leaseMilliseconds(lease);
  const liveAt = (now: number): [string, { lease: Lease; seenAt: number }][] =>
    [...known].filter(([, each]) => now < expiryOf(each));

  return {
    observe: (name, lease, now) => {
      if (lease === undefined) {
        known.delete(name);
        return;
      }
      // The same state told again, as after an outage, is no sign of life.
      const before = known.get(name)?.lease.metadata;
      const { uid, resourceVersion } = lease.metadata;
      if (before?.uid === uid && before.resourceVersion === resourceVersion) return;
      known.set(name, { lease, seenAt: now });
    },
    extend: (since, now) => {
      for (const [name, { lease }] of liveAt(since)) known.set(name, { lease, seenAt: now });
    },
    live: (now) =>
      liveAt(now)
        .map(([name]) => name)
        .sort(),
    nextExpiry: (now) =>
      liveAt(now)
        .map(([, each]) => expiryOf(each))
        .reduce<number | undefined>((least, each) => Math.min(least ?? each, each), undefined),
    expiredFor: (ms, now) =>
      [...known.values()].filter((each) => now - expiryOf(each) >= ms).map(({ lease }) => lease),
  };
}
