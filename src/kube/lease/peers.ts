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
   * This process was stopped until `now`, and what arrived meanwhile is not read yet: the Leases that were live at
   * `since`, when it looked last, count for one more duration. Once for each renewal that was seen: a process that
   * is always late must see a replica die as well.
   */
  extend(since: number, now: number): void;
  /**
   * The watch was broken from `since` to `now`: that time does not count for Leases that were live at `since`. Once a
   * Lease was given two durations in this way since a renewal was seen, it is given no more: a watch that breaks again
   * and again must not keep a replica alive that is dead.
   */
  suspend(since: number, now: number): void;
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
  /** It has been extended since it was seen to change. */
  readonly extended: boolean;
  /** Milliseconds for which the watch was broken since then. */
  readonly suspendedMs: number;
}

/** Of {@link Peers.suspend}, in durations of the Lease. */
const MOST_SUSPENDED = 2;

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
      known.set(name, { lease, seenAt: now, extended: false, suspendedMs: 0 });
    },
    extend: (since, now) => {
      for (const [name, each] of liveAt(since)) {
        if (!each.extended) known.set(name, { ...each, seenAt: now, extended: true });
      }
    },
    suspend: (since, now) => {
      for (const [name, each] of liveAt(since)) {
        const { lease, suspendedMs } = each;
        if (suspendedMs >= MOST_SUSPENDED * leaseMilliseconds(lease)) continue;
        const seenAt = Math.min(now, each.seenAt + (now - since));
        known.set(name, { ...each, seenAt, suspendedMs: suspendedMs + (now - since) });
      }
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
