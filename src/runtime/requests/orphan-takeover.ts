// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../api/object/object.ts';
import type { Component } from '../component/component.ts';
import { serverTime } from '../component/server-time.ts';

type Pending = readonly [key: string, request: KubeObject];

export interface OrphanTakeoverInit {
  readonly component: Pick<Component, 'client' | 'clock' | 'delay' | 'shard' | 'queue' | 'log'>;
  /** Every pending request with its key. */
  readonly pending: () => Iterable<Pending>;
}

/**
 * Takes up, once, what another replica should have answered long ago. Whoever has a Lease is taken to
 * work, but it may hang, or be an invention of somebody who may write Leases: that must cost time
 * only. Two replicas that work on one request do no harm, the fence of the write lets one of them
 * through; it is a signature in vain, so nobody hurries.
 */
export interface OrphanTakeover {
  /** Whether the request of that key, another's, is to be worked on all the same. */
  readonly claims: (key: string) => boolean;
  /** Looks for such requests until `signal` is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Older requests are overdue: twice what a Lease takes to run out, and a quarter of a kubelet's patience. */
export const TAKEOVER_AFTER_MS = 30_000;
const SWEEP_MS = 5_000;
/** A sweep takes up no more, so that a slow replica is helped and not imitated. */
const MOST_AT_ONCE = 500;

export function createOrphanTakeover({ component, pending }: OrphanTakeoverInit): OrphanTakeover {
  const { client, clock, delay, shard, queue, log } = component;
  const granted = new Set<string>();
  /** Key → the state in which it was taken up; it is not taken up twice. */
  let tried = new Map<string, string>();

  /** A request's age by the clock that wrote down its creation. */
  function isOverdue({ metadata }: KubeObject): boolean {
    return (
      serverTime({ clock, client }) - Date.parse(metadata.creationTimestamp) >= TAKEOVER_AFTER_MS
    );
  }

  function sweep(): void {
    // Who has work of its own is no help.
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
      granted.add(key);
      queue.add(key);
    }
    if (taken.length > 0) {
      log.warn(
        { requests: taken.length },
        'requests that are another replica’s are overdue; they are taken up',
      );
    }
  }

  return {
    claims: (key) => granted.delete(key),
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
