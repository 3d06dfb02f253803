// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '#base/errors.ts';
import type { Random } from '#base/ports.ts';
import { createWakeup, type Wakeup } from '../wait/wakeup.ts';
import { createReflector, type Reflector, type WatchMetrics } from '../watch/reflector.ts';
import { Elector } from './elector.ts';
import { deleteLease } from './lease-lock.ts';
import { LeaseRenewer, type LeaseRenewerInit } from './lease-renewer.ts';
import { LEASES, type Lease } from './lease.ts';
import { createPeers } from './peers.ts';
import { createRendezvousHash } from './rendezvous-hash.ts';
import type { LeaseMetrics, LeasedShardFilter } from './shard-filter.ts';

export interface ShardMembershipInit extends Omit<
  LeaseRenewerInit,
  'elector' | 'onRelease' | 'onWritten' | 'onStep' | 'metrics'
> {
  readonly random: Random;
  readonly metrics: LeaseMetrics & WatchMetrics;
  /** The replica joins when this is true for the first time. */
  readonly isReady: () => boolean;
}

/** The interval between checks of `isReady` until the replica joins. */
const JOIN_POLL_MS = 200;
/** A timer that fires this late means that the process was stopped, or starved of CPU. */
const STALL_MS = 1_000;
/** A Lease that expired this many durations ago is deleted. */
const STALE_DURATIONS = 8;
/** After this many durations without a watch the replica owns every key. */
const BLIND_DURATIONS = 2;

/**
 * Shards the work over all replicas by a rendezvous hash of its keys. Each replica holds a Lease of
 * its own, and the live Leases are the members.
 *
 * A replica joins when it is ready. Until then it owns keys only if there are no other members. It
 * never leaves while it runs: a replica that cannot renew its Lease keeps its own shard, beside the
 * replicas that take it over. Writes have preconditions, so nothing is written twice.
 *
 * Without permission for Leases every replica owns every key, and a warning names the permission.
 */
export function createShardMembership(init: ShardMembershipInit): LeasedShardFilter {
  return new RunningMembership(init);
}

class RunningMembership implements LeasedShardFilter {
  readonly #init: ShardMembershipInit;
  readonly #durationMs: number;
  readonly #listeners: (() => void)[] = [];
  readonly #peers = createPeers();
  readonly #wakeup: Wakeup;
  readonly #watch: Reflector<Lease>;
  readonly #renewer: LeaseRenewer;
  #hasJoined = false;
  /** Undefined until the members are known. Until then the replica owns nothing. */
  #members: readonly string[] | undefined;
  #ownerOf = createRendezvousHash([]);
  /** The time at which the members were last determined. */
  #updatedAt: number;
  /** The time since which the watch is broken. */
  #blindSince: number | undefined;
  #isCollecting = false;

  constructor(init: ShardMembershipInit) {
    this.#init = init;
    this.#durationMs = init.times.durationSeconds * 1000;
    this.#wakeup = createWakeup(init.delay);
    this.#updatedAt = init.monotonic();
    this.#watch = createReflector<Lease>({
      ...init,
      path: LEASES.collection(init.namespace),
      labelSelector: Object.entries(init.labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(),
      onEvent: (_key, now, before) => this.#onLease(now, before),
    });
    this.#renewer = new LeaseRenewer({
      ...init,
      elector: new Elector({ ...init, exclusive: true }),
      onRelease: 'delete',
      onWritten: (lease) => this.#watch.applyWrite(lease),
      onStep: () => undefined,
    });
  }

  readonly owns = (key: string): boolean =>
    this.#members !== undefined && this.#ownerOf(key) === this.#init.name;

  readonly onChange = (listener: () => void): void => {
    this.#listeners.push(listener);
  };

  readonly warnings = (): readonly string[] => {
    const failure = this.#renewer.failure ?? this.#watch.failure;
    if (failure === undefined) return [];
    const effect = 'replicas may do work twice, but each result is written once';
    return [`Leases in ${this.#init.namespace}: ${messageOf(failure)}; ${effect}`];
  };

  readonly renew = (): void => this.#renewer.renew();

  readonly run = async (signal: AbortSignal): Promise<void> => {
    const watching = new AbortController();
    const both = [this.#watch.run(watching.signal), this.#keepUpdated(watching.signal)];
    this.#watch.whenSynced(watching.signal).then(
      () => this.#wakeup.wake(),
      () => undefined,
    );
    await this.#join(signal);
    watching.abort();
    await Promise.all(both);
  };

  #onLease(now: Lease | undefined, before: Lease | undefined): void {
    const { name, monotonic } = this.#init;
    const changed = (now ?? before)?.metadata.name ?? '';
    if (changed === name) this.#renewer.observe(now);
    else this.#peers.observe(changed, now, monotonic());
    this.#wakeup.wake();
  }

  async #join(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#init.isReady()) {
      await this.#init.delay(JOIN_POLL_MS, signal).catch(() => undefined);
    }
    if (signal.aborted) return;
    this.#hasJoined = true;
    this.#wakeup.wake();
    await this.#renewer.run(signal);
  }

  async #keepUpdated(signal: AbortSignal): Promise<void> {
    const { monotonic, times } = this.#init;
    let due = monotonic();
    while (!signal.aborted) {
      this.#update(due);
      void this.#collectGarbage(signal);
      const now = monotonic();
      const expiry = this.#peers.nextExpiry(now) ?? Infinity;
      due = Math.min(now + (this.#hasJoined ? times.periodMs : JOIN_POLL_MS), expiry);
      await this.#wakeup.wait(due - now, signal);
    }
  }

  /** Determines the members. @param due - the planned time of this call */
  #update(due: number): void {
    const now = this.#init.monotonic();
    if (now - due > STALL_MS) this.#peers.extend(this.#updatedAt, now);
    if (!this.#watch.synced && this.#watch.failure === undefined) return;
    const peers = this.#livePeers(now);
    this.#updatedAt = now;
    const members =
      this.#hasJoined || peers.length === 0 ? [...peers, this.#init.name].sort() : peers;
    if (members.join() === this.#members?.join()) return;
    this.#report(this.#members ?? [], members);
    this.#members = members;
    this.#ownerOf = createRendezvousHash(members);
    for (const listener of this.#listeners) listener();
  }

  /**
   * Returns the live peers. While the watch is broken, the previously live ones count for a while.
   */
  #livePeers(now: number): readonly string[] {
    if (this.#watch.failure !== undefined) {
      this.#blindSince ??= this.#updatedAt;
      const isOver = now - this.#blindSince > BLIND_DURATIONS * this.#durationMs;
      return isOver ? [] : this.#peers.live(this.#blindSince);
    }
    if (this.#blindSince !== undefined) this.#peers.suspend(this.#blindSince, now);
    this.#blindSince = undefined;
    return this.#peers.live(now);
  }

  #report(before: readonly string[], members: readonly string[]): void {
    const { metrics, log, name } = this.#init;
    metrics.shares(members.length, members.includes(name) ? 1 / members.length : 0);
    const joined = members.filter((each) => !before.includes(each));
    const left = before.filter((each) => !members.includes(each));
    log.info({ members, joined, left, self: name }, 'shard members changed');
  }

  /** Deletes Leases of dead replicas. The first member does it for all. Never rejects. */
  async #collectGarbage(signal: AbortSignal): Promise<void> {
    const { client, log, monotonic, name } = this.#init;
    if (this.#isCollecting || this.#members?.[0] !== name) return;
    if (this.#watch.failure !== undefined) return;
    this.#isCollecting = true;
    const age = STALE_DURATIONS * this.#durationMs;
    for (const lease of this.#peers.expiredFor(age, monotonic())) {
      const stale = lease.metadata.name;
      try {
        await deleteLease(client, lease, signal);
        log.info({ lease: stale }, 'stale lease deleted');
        this.#peers.observe(stale, undefined, monotonic());
      } catch (error) {
        log.debug({ lease: stale, error: messageOf(error) }, 'cannot delete stale lease');
      }
    }
    this.#isCollecting = false;
  }
}
