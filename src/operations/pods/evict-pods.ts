// SPDX-License-Identifier: Apache-2.0
import type { Eviction } from '../../kube/client/eviction.ts';
import type { Clock, Delay } from '../../ports.ts';
import type { AffectedPod } from './affected-pods.ts';

/** How to evict: rate, deadline, and what to leave alone. */
export interface EvictPodsInit {
  readonly evict: (pod: AffectedPod) => Promise<Eviction>;
  readonly clock: Clock;
  readonly delay: Delay;
  /** Reports one line of progress. */
  readonly progress: (line: string) => void;
  /** Evictions a minute. */
  readonly perMinute: number;
  /** Milliseconds since the epoch: pods that are still blocked then remain. */
  readonly deadline: number;
  /** A dry run: one attempt for each pod, and no pod is evicted. */
  readonly dryRun: boolean;
  /** Evicts also pods without a controller, which nothing replaces. */
  readonly barePods: boolean;
  readonly signal: AbortSignal;
}

/** A pod that was not evicted, and why. */
export interface RemainingPod {
  readonly pod: AffectedPod;
  readonly why: string;
}

/** What happened to each pod. */
export interface EvictionSummary {
  readonly evicted: readonly AffectedPod[];
  /** Deleted by others in the meantime. */
  readonly gone: readonly AffectedPod[];
  readonly left: readonly RemainingPod[];
}

/** When a 429 has no Retry-After: the API server's own value for a disruption budget (eviction.go). */
const BLOCKED_MS = 10_000;
const MINUTE_MS = 60_000;

interface QueuedPod {
  readonly pod: AffectedPod;
  /** Milliseconds since the epoch: no attempt before. */
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
 * Evicts pods one after the other at the given rate. A pod that a disruption budget protects is retried
 * when the API server says so, and does not hold up the others.
 *
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

/** @returns the pod again when its eviction is to be retried */
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

/** Waits until `at`. @returns false when the deadline passes or `signal` aborts first */
async function waitUntil(
  at: number,
  { clock, delay, deadline, signal }: EvictPodsInit,
): Promise<boolean> {
  const wait = Math.min(at, deadline) - clock();
  if (wait > 0) await delay(wait, signal).catch(() => undefined);
  return !signal.aborted && clock() < deadline;
}

/** `namespace/name`. */
export function nameOf({ namespace, name }: AffectedPod): string {
  return `${namespace}/${name}`;
}
