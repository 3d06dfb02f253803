// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../../errors.ts';
import type { Random } from '../../ports.ts';
import { createWakeup } from '../wait/wakeup.ts';
import type { LeaseMetrics, LeasedShardFilter } from './shard-filter.ts';
import { createElector } from './elector.ts';
import { removeLease } from './lease-remains.ts';
import { createLeaseRenewer, type LeaseRenewerInit } from './lease-renewer.ts';
import { LEASES, type Lease } from './lease.ts';
import { createPeers } from './peers.ts';
import { createReflector, type WatchMetrics } from '../watch/reflector.ts';
import { createRendezvousHash } from './rendezvous-hash.ts';

export interface ShardMembershipInit extends Omit<
  LeaseRenewerInit,
  'election' | 'end' | 'observe' | 'onStep' | 'metrics'
> {
  readonly random: Random;
  readonly metrics: LeaseMetrics & WatchMetrics;
  /** From the first time that this is true the replica takes part. */
  readonly isReady: () => boolean;
}

/** Until this replica takes part its readiness is asked for so often. */
const JOIN_POLL_MS = 200;
/** Woken so much later than was asked for, the process had been stopped, or was very busy. */
const STALL_MS = 1_000;
/** Leases of members that never came back are deleted after so many durations. */
const REMAINS_DURATIONS = 8;
/** Nothing was heard of the others for so many durations: this replica goes on alone. */
const BLIND_DURATIONS = 2;

/**
 * The work that all replicas share by rendezvous hashing of its keys: each has a Lease of its own, and
 * who has one is a member. A replica joins when it is ready first, and until then works only where
 * nobody else does. It never leaves by itself while it runs: one that cannot renew its Lease goes on
 * with its own part, beside the others that take it over, since writes are fenced and an overload is
 * no time to do everything twice.
 *
 * Without the right to Leases every replica is alone, and works on everything; a warning says so.
 */
export function createShardMembership(init: ShardMembershipInit): LeasedShardFilter {
  const { monotonic, delay, log, metrics, namespace, name, times } = init;
  const durationMs = times.durationSeconds * 1000;
  const listeners: (() => void)[] = [];
  const members = createPeers();
  const bell = createWakeup(delay);
  const election = createElector({ ...init, sole: true });
  let joined = false;
  /** Undefined until it is known who is there: nothing is ours before. */
  let view: readonly string[] | undefined;
  let shareOf = createRendezvousHash([]);
  let looked = monotonic();
  let blindSince: number | undefined;
  let cleaning = false;

  const watch = createReflector<Lease>({
    ...init,
    path: LEASES.collection(namespace),
    labelSelector: Object.entries(init.labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(),
    onEvent: (_key, now, before) => {
      const seen = (now ?? before)?.metadata.name ?? '';
      if (seen === name) own.saw(now);
      else members.observe(seen, now, monotonic());
      bell.wake();
    },
  });
  const own = createLeaseRenewer({
    ...init,
    election,
    end: 'delete',
    observe: (lease) => watch.applyWrite(lease),
    onStep: () => undefined,
  });

  /** While the watch is broken the others are taken to be where they were, for a while. */
  function othersAt(now: number): readonly string[] {
    if (watch.failure !== undefined) {
      blindSince ??= looked;
      return now - blindSince > BLIND_DURATIONS * durationMs ? [] : members.live(blindSince);
    }
    if (blindSince !== undefined) members.extend(blindSince, now);
    blindSince = undefined;
    return members.live(now);
  }

  function look(due: number): void {
    const now = monotonic();
    if (now - due > STALL_MS) members.extend(looked, now);
    if (!watch.synced && watch.failure === undefined) return;
    const others = othersAt(now);
    looked = now;
    const whole = joined || others.length === 0 ? [...others, name].sort() : others;
    if (whole.join() === view?.join()) return;
    tell(view ?? [], whole);
    view = whole;
    shareOf = createRendezvousHash(whole);
    for (const listener of listeners) listener();
  }

  function tell(before: readonly string[], now: readonly string[]): void {
    const mine = now.includes(name);
    metrics.shares(now.length, mine ? 1 / now.length : 0);
    const came = now.filter((each) => !before.includes(each));
    const went = before.filter((each) => !now.includes(each));
    log.info({ members: now, came, went, self: name }, 'the replicas that share the work changed');
  }

  /** One of them is enough: the first. */
  async function clean(signal: AbortSignal): Promise<void> {
    if (cleaning || view?.[0] !== name || watch.failure !== undefined) return;
    cleaning = true;
    for (const lease of members.expiredFor(REMAINS_DURATIONS * durationMs, monotonic())) {
      const isGone = await removeLease(init, lease, signal);
      if (isGone) members.observe(lease.metadata.name, undefined, monotonic());
    }
    cleaning = false;
  }

  async function keep(signal: AbortSignal): Promise<void> {
    let due = monotonic();
    while (!signal.aborted) {
      look(due);
      void clean(signal);
      const now = monotonic();
      const expiry = members.nextExpiry(now) ?? Infinity;
      due = Math.min(now + (joined ? times.periodMs : JOIN_POLL_MS), expiry);
      await bell.wait(due - now, signal);
    }
  }

  async function join(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !init.isReady()) {
      await delay(JOIN_POLL_MS, signal).catch(() => undefined);
    }
    if (signal.aborted) return;
    joined = true;
    bell.wake();
    await own.run(signal);
  }

  return {
    owns: (key) => view !== undefined && shareOf(key) === name,
    onChange: (listener) => {
      listeners.push(listener);
    },
    warnings: () => {
      const [failure] = [own.failure, watch.failure].filter((each) => each !== undefined);
      return failure === undefined
        ? []
        : [
            `Leases in ${namespace}: ${messageOf(failure)}; work may be done twice, though written once`,
          ];
    },
    run: async (signal) => {
      const watching = new AbortController();
      const both = [watch.run(watching.signal), keep(watching.signal)];
      watch.whenSynced(watching.signal).then(
        () => bell.wake(),
        () => undefined,
      );
      await join(signal);
      watching.abort();
      await Promise.all(both);
    },
  };
}
