// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../api/object/object.ts';
import { backoffDelay } from '../../kube/wait/backoff.ts';
import type { Component } from '../component/component.ts';
import { serverTime } from '../component/server-time.ts';

type Pending = readonly [key: string, request: KubeObject];

/** What the takeover needs. */
export interface OrphanTakeoverInit {
  readonly component: Pick<
    Component,
    'client' | 'clock' | 'delay' | 'random' | 'shard' | 'queue' | 'log'
  >;
  /** Every pending request with its key. */
  readonly pending: () => Iterable<Pending>;
}

/**
 * Takes over requests that another replica should have answered long ago: once each, and again with backoff while that
 * fails. A replica with a Lease counts as working, but it may hang, and anyone with write access to Leases can forge one:
 * that may delay requests, but not stop them. It is safe if two replicas process one request, since one of their writes
 * ends in a resourceVersion conflict; it wastes a signature, so the takeover comes late.
 */
export interface OrphanTakeover {
  /** Whether another replica's request with this key is taken over now. True only once for each takeover. */
  readonly claims: (key: string) => boolean;
  /**
   * The takeover came to what a repetition would not change. Where nobody says so, because it failed in whatever way,
   * the request is taken over again.
   */
  readonly settle: (key: string) => void;
  /** Looks for such requests until `signal` is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Older requests are orphans. Twice the duration of a Lease, and a quarter of what a kubelet waits. */
const TAKEOVER_AFTER_MS = 30_000;
const SWEEP_MS = 5_000;
/** The most that one sweep takes over: it must help a slow replica, not replace it. */
const MOST_AT_ONCE = 500;
/** Of those whose takeover failed: they may all wait for one cause, and each try may read the request anew. */
const MOST_AGAIN = 50;
const FIRST_TAKEOVER_RETRY_MS = 30_000;
const MAX_TAKEOVER_RETRY_MS = 600_000;

/** One request that was taken over. */
interface Try {
  /** Another one is another request, as far as a takeover is concerned. */
  readonly resourceVersion: string;
  readonly times: number;
  /** By our clock. */
  retryAt: number;
}

/** Sweeps over the pending requests of the other replicas. */
export function createOrphanTakeover({ component, pending }: OrphanTakeoverInit): OrphanTakeover {
  const { client, clock, delay, shard, queue, log } = component;
  const claimed = new Set<string>();
  const tries = createTries(component);

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
    const { taken, again } = tries.choose(overdue);
    for (const key of [...taken, ...again]) {
      claimed.add(key);
      queue.add(key);
    }
    if (taken.length > 0) {
      log.warn(
        { requests: taken.length },
        'requests of another replica are overdue, taking them over',
      );
    }
    if (again.length > 0) {
      log.info({ requests: again.length }, 'takeover of overdue requests has failed, trying again');
    }
  }

  return {
    claims: (key) => claimed.delete(key),
    settle: tries.settle,
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

/** Which requests were taken over, and when those whose takeover failed have their next turn. */
function createTries({
  clock,
  random,
}: Pick<OrphanTakeoverInit['component'], 'clock' | 'random'>): {
  /** The keys to take over now: for the first time, and again. What is overdue no more is forgotten. */
  readonly choose: (
    overdue: readonly Pending[],
  ) => Readonly<Record<'taken' | 'again', readonly string[]>>;
  readonly settle: OrphanTakeover['settle'];
} {
  let tried = new Map<string, Try>();

  function tryOf([key, { metadata }]: Pending): Try | undefined {
    const known = tried.get(key);
    return known?.resourceVersion === metadata.resourceVersion ? known : undefined;
  }

  function nextTry(each: Pending): readonly [string, Try] {
    const times = tryOf(each)?.times ?? 0;
    const wait = backoffDelay(times, {
      firstMs: FIRST_TAKEOVER_RETRY_MS,
      maxMs: MAX_TAKEOVER_RETRY_MS,
      random,
    });
    const [key, { metadata }] = each;
    const { resourceVersion } = metadata;
    return [key, { resourceVersion, times: times + 1, retryAt: clock() + wait }];
  }

  return {
    choose: (overdue) => {
      const now = clock();
      const known = overdue.flatMap((each) => {
        const before = tryOf(each);
        return before === undefined ? [] : [{ each, before }];
      });
      const again = known
        .filter(({ before }) => before.retryAt <= now)
        .sort((a, b) => a.before.retryAt - b.before.retryAt)
        .slice(0, MOST_AGAIN)
        .map(({ each }) => each);
      // The newest: an owner that is only slow begins with the oldest.
      const taken = overdue.filter((each) => tryOf(each) === undefined).slice(-MOST_AT_ONCE);
      const next = [...taken, ...again].map(nextTry);
      tried = new Map([...known.map(({ each, before }) => [each[0], before] as const), ...next]);
      return { taken: taken.map(([key]) => key), again: again.map(([key]) => key) };
    },
    settle: (key) => {
      const known = tried.get(key);
      if (known !== undefined) known.retryAt = Infinity;
    },
  };
}
