// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../api/object/object.ts';
import type { Component } from '../component/component.ts';
import { serverTime } from '../component/server-time.ts';

type Pending = readonly [key: string, request: KubeObject];

/** What the takeover needs. */
export interface OrphanTakeoverInit {
  readonly component: Pick<Component, 'client' | 'clock' | 'delay' | 'shard' | 'queue' | 'log'>;
  /** Every pending request with its key. */
  readonly pending: () => Iterable<Pending>;
}

/**
 * Takes over, once each, requests that another replica should have answered long ago. A replica with a Lease
 * counts as working, but it may hang, and anyone with write access to Leases can forge one: that may delay
 * requests, but not stop them. It is safe if two replicas process one request, since one of their writes ends in
 * a resourceVersion conflict; it wastes a signature, so the takeover comes late.
 */
export interface OrphanTakeover {
  /** Whether another replica's request with this key is taken over now. True only once for each takeover. */
  readonly claims: (key: string) => boolean;
  /** Looks for such requests until `signal` is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Older requests are orphans. Twice the duration of a Lease, and a quarter of what a kubelet waits. */
const TAKEOVER_AFTER_MS = 30_000;
const SWEEP_MS = 5_000;
/** The most that one sweep takes over: it must help a slow replica, not replace it. */
const MOST_AT_ONCE = 500;

/** Sweeps over the pending requests of the other replicas. */
export function createOrphanTakeover({ component, pending }: OrphanTakeoverInit): OrphanTakeover {
  const { client, clock, delay, shard, queue, log } = component;
  const claimed = new Set<string>();
  /** Key → the resourceVersion that was taken over; the same one is not taken over twice. */
  let tried = new Map<string, string>();

  /** Compares with the API server's clock, which wrote the creationTimestamp. */
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
    // The newest: an owner that is only slow begins with the oldest.
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
