// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import { backoffDelay } from '#kube/wait/backoff.ts';
import type { Component } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import * as messages from './messages.ts';

type KeyedRequest = readonly [key: string, request: KubeObject];

/** Dependencies of the takeover. */
export interface OrphanTakeoverInit {
  readonly component: Pick<
    Component,
    'client' | 'clock' | 'delay' | 'random' | 'shard' | 'queue' | 'log'
  >;
  /** Returns every pending request with its key. */
  readonly pending: () => Iterable<KeyedRequest>;
}

/**
 * Takes over requests that another replica should have answered long ago, once each, with backoff
 * after a failure. A replica with a Lease counts as working, but it may hang, and any client with
 * write access to Leases can forge one. That may delay requests, but not stop them.
 *
 * Two replicas may safely process one request, since one of their writes ends in a resourceVersion
 * conflict. It wastes a signature, so the takeover comes late.
 */
export interface OrphanTakeover {
  /**
   * Reports whether another replica's request with this key is taken over now. True only once for
   * each takeover.
   */
  readonly claims: (key: string) => boolean;
  /** Marks the takeover as done. Otherwise it is retried. */
  readonly settle: (key: string) => void;
  /** Finds such requests until `signal` is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Age of an orphan: twice the duration of a Lease, and a quarter of a kubelet's wait. */
const TAKEOVER_AFTER_MS = 30_000;
const SWEEP_MS = 5_000;
/** Maximum number of takeovers in one sweep, which must help a slow replica, not replace it. */
const MAX_AT_ONCE = 500;
/**
 * Maximum number of retried takeovers in one sweep. They may all wait for one cause, and each retry
 * may read the request again.
 */
const MAX_RETRIES = 50;
const FIRST_TAKEOVER_RETRY_MS = 30_000;
const MAX_TAKEOVER_RETRY_MS = 600_000;

/** One request that was taken over. */
interface Try {
  /** A changed resourceVersion counts as another request. */
  readonly resourceVersion: string;
  readonly times: number;
  /** Milliseconds by our clock. */
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
      log.warn({ requests: taken.length }, messages.TAKEOVER);
    }
    if (again.length > 0) {
      log.info({ requests: again.length }, messages.TAKEOVER_FAILED);
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

/** Tracks the requests that were taken over, and the next retry of failed takeovers. */
function createTries({
  clock,
  random,
}: Pick<OrphanTakeoverInit['component'], 'clock' | 'random'>): {
  /**
   * Returns the keys to take over now: new ones, and retries. Forgets those that are not overdue
   * any more.
   */
  readonly choose: (
    overdue: readonly KeyedRequest[],
  ) => Readonly<Record<'taken' | 'again', readonly string[]>>;
  readonly settle: OrphanTakeover['settle'];
} {
  let tried = new Map<string, Try>();

  function tryOf([key, { metadata }]: KeyedRequest): Try | undefined {
    const known = tried.get(key);
    return known?.resourceVersion === metadata.resourceVersion ? known : undefined;
  }

  function nextTry(each: KeyedRequest): readonly [string, Try] {
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
        .slice(0, MAX_RETRIES)
        .map(({ each }) => each);
      // Takes the newest, since an owner that is only slow begins with the oldest.
      const taken = overdue.filter((each) => tryOf(each) === undefined).slice(-MAX_AT_ONCE);
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
