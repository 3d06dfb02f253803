// SPDX-License-Identifier: Apache-2.0
import { leaseMilliseconds, type Lease } from './lease.ts';

/**
 * Tracks which other replicas are live, by their Leases, without network and clock. All times are
 * milliseconds of one monotonic clock of this process. A Lease counts for its duration from the
 * moment at which this process saw it change. Times that others wrote are ignored.
 */
export interface Peers {
  /** Takes the Lease `name` at `now`, or undefined if it was deleted. */
  observe(name: string, lease: Lease | undefined, now: number): void;
  /**
   * Extends the Leases that were live at `since` by one duration. This process was stopped from
   * then until `now`, and has not read what arrived meanwhile.
   *
   * Applies once for each observed renewal: a process that is always late must see a replica die as
   * well.
   */
  extend(since: number, now: number): void;
  /**
   * Excludes the time from `since` to `now`, during which the watch was broken, for Leases that
   * were live at `since`.
   *
   * Between two observed renewals a Lease gains at most two durations. A watch that breaks again
   * and again must not keep a dead replica alive.
   */
  suspend(since: number, now: number): void;
  /** Names of the live replicas, sorted. */
  live(now: number): readonly string[];
  /** Returns when the next Lease expires without a renewal, or undefined if none is live. */
  nextExpiry(now: number): number | undefined;
  /** Returns the Leases that expired at least `ms` ago. */
  expiredFor(ms: number, now: number): readonly Lease[];
}

interface ObservedLease {
  readonly lease: Lease;
  readonly seenAt: number;
  /** Whether it has been extended since its last observed change. */
  readonly extended: boolean;
  /** Milliseconds for which the watch was broken since then. */
  readonly suspendedMs: number;
}

/** The limit of {@link Peers.suspend}, in durations of the Lease. */
const MAX_SUSPENDED = 2;

export function createPeers(): Peers {
  const known = new Map<string, ObservedLease>();
  const expiryOf = ({ lease, seenAt }: ObservedLease): number => seenAt + leaseMilliseconds(lease);
  const liveAt = (now: number): [string, ObservedLease][] =>
    [...known].filter(([, each]) => now < expiryOf(each));

  return {
    observe: (name, lease, now) => {
      if (lease === undefined) {
        known.delete(name);
        return;
      }
      // A list after an outage sends the same state again: that does not renew the Lease.
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
        if (suspendedMs >= MAX_SUSPENDED * leaseMilliseconds(lease)) continue;
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
