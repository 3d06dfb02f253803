// SPDX-License-Identifier: Apache-2.0
import type { Eviction } from '../../kube/client/eviction.ts';
import type { Clock, Delay } from '../../ports.ts';
import type { AffectedPod } from './affected-pods.ts';

export interface EvictPodsInit {
  readonly evict: (pod: AffectedPod) => Promise<Eviction>;
  readonly clock: Clock;
  readonly delay: Delay;
  /** One line of progress. */
  readonly say: (line: string) => void;
  readonly perMinute: number;
  /** Milliseconds: what is blocked then is given up. */
  readonly deadline: number;
  /** Asks once for each pod: a dry run has nothing to wait for. */
  readonly once: boolean;
  /** Evicts also what nobody makes anew. */
  readonly barePods: boolean;
  readonly signal: AbortSignal;
}

/** A pod that is still there, and why. */
export interface RemainingPod {
  readonly pod: AffectedPod;
  readonly why: string;
}

export interface EvictionSummary {
  readonly evicted: readonly AffectedPod[];
  /** Gone by themselves. */
  readonly gone: readonly AffectedPod[];
  readonly left: readonly RemainingPod[];
}

/** Where the server does not say how long, as long as it says for a budget (eviction.go). */
const BLOCKED_MS = 10_000;
const MINUTE_MS = 60_000;

interface QueuedPod {
  readonly pod: AffectedPod;
  /** Milliseconds: not before. */
  readonly at: number;
  readonly why: string;
}

/** Evicts one pod after the other, at a rate; those that a budget protects are asked for again. */
export async function evictPods(
  pods: readonly AffectedPod[],
  init: EvictPodsInit,
): Promise<EvictionSummary> {
  const { clock, say } = init;
  const remade = pods.filter(({ remadeBy }) => remadeBy !== undefined || init.barePods);
  const evicted: AffectedPod[] = [];
  const gone: AffectedPod[] = [];
  const left: RemainingPod[] = pods
    .filter((pod) => !remade.includes(pod))
    .map((pod) => ({ pod, why: 'nobody would make it anew; --bare-pods evicts it all the same' }));
  let queue: readonly QueuedPod[] = remade.map((pod) => ({
    pod,
    at: clock(),
    why: 'its turn had not come',
  }));

  /** @returns it once more where it is to be asked for again */
  async function ask({ pod, why }: QueuedPod): Promise<readonly QueuedPod[]> {
    const result = await init.evict(pod);
    if (result.kind === 'blocked' && !init.once) {
      if (result.message !== why) say(`waits: ${nameOf(pod)}: ${result.message}`);
      return [{ pod, at: clock() + (result.retryAfter ?? BLOCKED_MS), why: result.message }];
    }
    if (result.kind === 'blocked' || result.kind === 'refused') {
      left.push({ pod, why: result.message });
      say(`not evicted: ${nameOf(pod)}: ${result.message}`);
      return [];
    }
    (result.kind === 'gone' ? gone : evicted).push(pod);
    say(`${result.kind}: ${nameOf(pod)} (${evicted.length + gone.length} of ${pods.length})`);
    return [];
  }

  let nextAt = clock();
  while (queue.length > 0) {
    const [first, ...rest] = queue.toSorted((a, b) => a.at - b.at);
    if (first === undefined || !(await reached(Math.max(first.at, nextAt), init))) break;
    nextAt = clock() + MINUTE_MS / init.perMinute;
    queue = [...rest, ...(await ask(first))];
  }
  return { evicted, gone, left: [...left, ...queue.map(({ pod, why }) => ({ pod, why }))] };
}

/** Waits until then. @returns false where the deadline or the user comes first */
async function reached(
  at: number,
  { clock, delay, deadline, signal }: EvictPodsInit,
): Promise<boolean> {
  const wait = Math.min(at, deadline) - clock();
  if (wait > 0) await delay(wait, signal).catch(() => undefined);
  return !signal.aborted && clock() < deadline;
}

export function nameOf({ namespace, name }: AffectedPod): string {
  return `${namespace}/${name}`;
}
