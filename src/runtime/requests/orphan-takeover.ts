// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../api/object/object.ts';
import type { Component } from '../component/component.ts';
import { serverTime } from '../component/server-time.ts';

type Pending = readonly [key: string, request: KubeObject];

/** What the takeover is made from. */
export interface OrphanTakeoverInit {
  readonly component: Pick<Component, 'client' | 'clock' | 'delay' | 'shard' | 'queue' | 'log'>;
  /** Every pending request with its key. */
  readonly pending: () => Iterable<Pending>;
}

/**
 * Takes over, once, what another replica should have answered long ago. A replica that holds a Lease is
 * taken to work, but it may hang, and anybody who may write Leases can forge one: that must cost time only.
 * Concurrent work on one request is safe, because a resourceVersion conflict stops one of both writes; but
 * it wastes a signature, so the takeover is delayed.
 */
export interface OrphanTakeover {
  /** Whether the request of that key, which belongs to another replica, is taken over; true only once. */
  readonly claims: (key: string) => boolean;
  /** Looks for such requests until `signal` is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Older requests are orphans: twice the duration of a Lease, and a quarter of what a kubelet waits. */
const TAKEOVER_AFTER_MS = 30_000;
const SWEEP_MS = 5_000;
/** A sweep takes over no more, so that a slow replica is relieved and not replaced. */
const MOST_AT_ONCE = 500;

/** `pending` are the requests of all replicas; those of this one are left out. */
export function createOrphanTakeover({ component, pending }: OrphanTakeoverInit): OrphanTakeover {
  const { client, clock, delay, shard, queue, log } = component;
  const claimed = new Set<string>();
  /** Key → the state in which it was taken over; it is not taken over twice. */
  let tried = new Map<string, string>();

  /** A request's age by the clock that wrote down its creation. */
  function isOverdue({ metadata }: KubeObject): boolean {
    return (
      serverTime({ clock, client }) - Date.parse(metadata.creationTimestamp) >= TAKEOVER_AFTER_MS
    );
  }

  function sweep(): void {
    // A busy replica takes over nothing.
    if (queue.depth > 0) return;
    const overdue = [...pending()].filter(
      ([, request]) => !shard.owns(request.metadata.uid) && isOverdue(request),
    );
    const isTried = ([key, { metadata }]: Pending): boolean =>
      tried.get(key) === metadata.resourceVersion;
    // From the end: its owner, if it is only slow, comes from the other side.
    const taken = overdue.filter((each) => !isTried(each)).slice(-MOST_AT_ONCE);
    tried = new Map(
      [...overdue.filter(isTried), ...taken].map(([key, { metadata }]) => [
        key,
        metadata.resourceVersion,
      ]),
    );
    for (const [key] of taken) {
      claimed.add(key);
      queue.add(key);
    }
    if (taken.length > 0) {
      log.warn(
        { requests: taken.length },
        'requests of another replica are overdue, taking them over',
      );
    }
  }

  return {
    claims: (key) => claimed.delete(key),
    run: async (signal) => {
      const passes = (): Promise<boolean> =>
        delay(SWEEP_MS, signal).then(
          () => true,
          () => false,
        );
      while (await passes()) sweep();
    },
  };
}
