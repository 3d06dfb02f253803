// SPDX-License-Identifier: Apache-2.0
import { leaseMilliseconds, type Lease } from './lease.ts';

/**
 * Which other replicas are live, by their Leases, without network and clock. All times are
 * milliseconds of one monotonic clock of this process: a Lease counts for its duration from the
 * moment at which this process saw it change, and times that others wrote are ignored.
 */
export interface Peers {
  /** The Lease `name` as of `now`; undefined if it was deleted. */
  observe(name: string, lease: Lease | undefined, now: number): void;
  /**
   * Nothing could be observed from `since` to `now`: the Leases that were live at `since` count for one
   * more duration.
   */
  extend(since: number, now: number): void;
  /** Names of the live replicas, sorted. */
  live(now: number): readonly string[];
  /** When the next Lease expires without a renewal; undefined if none is live. */
  nextExpiry(now: number): number | undefined;
  /** Leases that expired at least `ms` ago. */
  expiredFor(ms: number, now: number): readonly Lease[];
}

interface Observed {
  readonly lease: Lease;
  readonly seenAt: number;
}

export function createPeers(): Peers {
  const known = new Map<string, Observed>();
  const expiryOf = ({ lease, seenAt }: Observed): number => seenAt + leaseMilliseconds(lease);
  const liveAt = (now: number): [string, Observed][] =>
    [...known].filter(([, each]) => now < expiryOf(each));

  return {
    observe: (name, lease, now) => {
      if (lease === undefined) {
        known.delete(name);
        return;
      }
      // The same state again, as a list after an outage sends it, is no renewal.
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
