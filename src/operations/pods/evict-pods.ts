// SPDX-License-Identifier: Apache-2.0
import type { Eviction } from '#kube/client/eviction.ts';
import type { Clock, Delay } from '#base/ports.ts';
import type { AffectedPod } from './affected-pods.ts';

/** Rate, deadline and exceptions of evictions. */
export interface EvictPodsInit {
  readonly evict: (pod: AffectedPod) => Promise<Eviction>;
  readonly clock: Clock;
  readonly delay: Delay;
  /** Reports one line of progress. */
  readonly progress: (line: string) => void;
  /** Evictions per minute. */
  readonly perMinute: number;
  /** Deadline in milliseconds since the epoch. Pods that are still blocked then remain. */
  readonly deadline: number;
  /** Whether to make one attempt for each pod without evicting it. */
  readonly dryRun: boolean;
  /** Whether to evict also pods without a controller, which nothing replaces. */
  readonly barePods: boolean;
  readonly signal: AbortSignal;
}

/** A pod that was not evicted, with the reason. */
export interface RemainingPod {
  readonly pod: AffectedPod;
  readonly why: string;
}

/** The result for each pod. */
export interface EvictionSummary {
  readonly evicted: readonly AffectedPod[];
  /** Pods that other clients deleted meanwhile. */
  readonly gone: readonly AffectedPod[];
  readonly left: readonly RemainingPod[];
}

/**
 * Wait after a 429 without Retry-After: the API server's own value for a disruption budget
 * (eviction.go).
 */
const BLOCKED_MS = 10_000;
const MINUTE_MS = 60_000;

interface QueuedPod {
  readonly pod: AffectedPod;
  /** Time of the next attempt, in milliseconds since the epoch. */
  readonly at: number;
  readonly why: string;
}

/** The evictions so far. */
interface EvictionState {
  readonly total: number;
  readonly evicted: AffectedPod[];
  readonly gone: AffectedPod[];
  readonly left: RemainingPod[];
}

/**
 * Evicts pods one after the other at the given rate. It retries a pod that a disruption budget
 * protects when the API server permits, without delaying the others.
 * @param pods - in the order of the evictions
 * @returns when every pod is evicted, gone or refused, at the deadline, or when `signal` aborts
 */
export async function evictPods(
  pods: readonly AffectedPod[],
  init: EvictPodsInit,
): Promise<EvictionSummary> {
  const { clock } = init;
  const evictable = pods.filter(({ remadeBy }) => remadeBy !== undefined || init.barePods);
  const state: EvictionState = {
    total: pods.length,
    evicted: [],
    gone: [],
    left: pods
      .filter((pod) => !evictable.includes(pod))
      .map((pod) => ({ pod, why: 'no controller would replace it; --bare-pods evicts it too' })),
  };
  const start = clock();
  let queue: readonly QueuedPod[] = evictable.map((pod) => ({
    pod,
    at: start,
    why: 'not attempted before the timeout',
  }));
  let nextAt = start;
  while (queue.length > 0) {
    const [first, ...rest] = queue.toSorted((a, b) => a.at - b.at);
    if (first === undefined || !(await waitUntil(Math.max(first.at, nextAt), init))) break;
    nextAt = clock() + MINUTE_MS / init.perMinute;
    queue = [...rest, ...(await attemptEviction(first, state, init))];
  }
  const { evicted, gone, left } = state;
  return { evicted, gone, left: [...left, ...queue.map(({ pod, why }) => ({ pod, why }))] };
}

/** Attempts one eviction. @returns the pod again if its eviction must be retried */
async function attemptEviction(
  { pod, why }: QueuedPod,
  { total, evicted, gone, left }: EvictionState,
  { evict, clock, progress, dryRun }: EvictPodsInit,
): Promise<readonly QueuedPod[]> {
  const result = await evict(pod);
  if (result.kind === 'blocked' && !dryRun) {
    if (result.message !== why) progress(`waiting: ${nameOf(pod)}: ${result.message}`);
    return [{ pod, at: clock() + (result.retryAfter ?? BLOCKED_MS), why: result.message }];
  }
  if (result.kind === 'blocked' || result.kind === 'refused') {
    left.push({ pod, why: result.message });
    progress(`not evicted: ${nameOf(pod)}: ${result.message}`);
    return [];
  }
  (result.kind === 'gone' ? gone : evicted).push(pod);
  const what = { gone: 'already gone', evicted: dryRun ? 'would evict' : 'evicted' }[result.kind];
  progress(`${what}: ${nameOf(pod)} (${evicted.length + gone.length} of ${total})`);
  return [];
}

/** Waits until `at`. @returns false if the deadline passes or `signal` aborts first */
async function waitUntil(
  at: number,
  { clock, delay, deadline, signal }: EvictPodsInit,
): Promise<boolean> {
  const wait = Math.min(at, deadline) - clock();
  if (wait > 0) await delay(wait, signal).catch(() => undefined);
  return !signal.aborted && clock() < deadline;
}

/** Formats a pod as `namespace/name`. */
export function nameOf({ namespace, name }: AffectedPod): string {
  return `${namespace}/${name}`;
}
