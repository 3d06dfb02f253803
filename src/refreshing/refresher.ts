// SPDX-License-Identifier: Apache-2.0
import type { Pod } from '../api/object/pod.ts';
import type { DisruptionBudget } from '../api/workload/disruption-budget.ts';
import { blockingBudget, holdsOlder } from './older-pods.ts';
import { formatRecord, restartedAtOf } from './record.ts';
import { rolloutOf, desiredPods, takesPodsAway } from './rollout.ts';
import { RestartSlots, type RestartLimits } from './restart-slots.ts';
import type { Standing } from './standing.ts';
import type { RestartVerdict } from './verdict.ts';

/** What a pass asks of the cluster, and does to it. */
export interface RefreshWorld {
  readonly podsOf: (standing: Standing) => Promise<readonly Pod[]>;
  readonly budgetsOf: (namespace: string) => readonly DisruptionBudget[];
  /** Starts the rollout. */
  readonly restart: (standing: Standing) => Promise<RestartOutcome>;
  /** Milliseconds since the epoch, by the API server's clock. */
  readonly now: () => number;
}

/** `conflict`: the workload has changed since it was read, and is to be judged anew. */
export type RestartOutcome = 'begun' | 'conflict' | { readonly refused: string };

/** What is remembered of a refusal. */
interface Refusal {
  readonly attempts: number;
  readonly until: number;
  readonly message: string;
}

/** The first retry of what the API server refused, and the longest wait: nobody's change is awaited for longer. */
const FIRST_RETRY_MS = 60_000;
const LONGEST_RETRY_MS = 30 * 60_000;
/** A workload is never restarted again sooner, whatever happens to its record. */
const LEAST_INTERVAL_MS = 5 * 60_000;

/**
 * Decides who is restarted now. Everything that must survive the process is on the workloads: the record and the time. What
 * is remembered here saves questions and spaces retries.
 */
export class Refresher {
  readonly #limits: RestartLimits;
  /** UID → the record that all its pods were found to be newer than. */
  readonly #fresh = new Map<string, string>();
  /** UID → the record that one of its pods was found to be older than: it is looked at again when it has its turn. */
  readonly #older = new Map<string, string>();
  /** UID → the last refusal. */
  readonly #refused = new Map<string, Refusal>();

  constructor(limits: RestartLimits) {
    this.#limits = limits;
  }

  /**
   * One pass over all opted-in workloads, the most urgent first. One that cannot be restarted stops nobody.
   *
   * @returns what became of each, by key
   */
  async pass(
    standings: readonly Standing[],
    world: RefreshWorld,
  ): Promise<ReadonlyMap<string, RestartVerdict>> {
    const slots = new RestartSlots(this.#limits, standings, world.now());
    const verdicts = new Map<string, RestartVerdict>();
    const urgent = [...standings].sort((a, b) => a.deadline - b.deadline || compare(a.key, b.key));
    for (const standing of urgent) {
      verdicts.set(standing.key, await this.#judge(standing, slots, world));
    }
    this.#forget(standings);
    return verdicts;
  }

  async #judge(
    standing: Standing,
    slots: RestartSlots,
    world: RefreshWorld,
  ): Promise<RestartVerdict> {
    const { metadata } = standing.workload;
    if (standing.changes.length === 0) return CURRENT;
    if (this.#fresh.get(metadata.uid) === formatRecord(standing.record)) return CURRENT;
    const now = world.now();
    const refusal = this.#refused.get(metadata.uid);
    if (refusal !== undefined && refusal.until > now) {
      return { kind: 'refused', message: refusal.message, until: refusal.until };
    }
    const early = whyNotYet(standing, now) ?? this.#whyFull(standing, slots, now);
    if (early !== undefined) return early;
    try {
      return await this.#look(standing, slots, world);
    } catch (error) {
      return this.#remember(metadata.uid, error instanceof Error ? error.message : 'failed', now);
    }
  }

  /** Who need not be restarted is not told to wait: the pods of each are looked at once. */
  #whyFull(standing: Standing, slots: RestartSlots, now: number): RestartVerdict | undefined {
    const { uid } = standing.workload.metadata;
    const isOlder = this.#older.get(uid) === formatRecord(standing.record);
    return isOlder ? slots.full(standing, now) : undefined;
  }

  async #look(
    standing: Standing,
    slots: RestartSlots,
    world: RefreshWorld,
  ): Promise<RestartVerdict> {
    const { workload } = standing;
    const { namespace = '', uid } = workload.metadata;
    const pods = await world.podsOf(standing);
    const isOlder = isOutdated(pods, standing);
    (isOlder ? this.#older : this.#fresh).set(uid, formatRecord(standing.record));
    if (!isOlder) return CURRENT;
    const full = slots.full(standing, world.now());
    if (full !== undefined) return full;
    const budget = takesPodsAway(workload)
      ? blockingBudget(pods, world.budgetsOf(namespace))
      : undefined;
    if (budget !== undefined) return { kind: 'blocked', budget: budget.metadata.name };
    return this.#restart(standing, slots, world);
  }

  async #restart(
    standing: Standing,
    slots: RestartSlots,
    world: RefreshWorld,
  ): Promise<RestartVerdict> {
    const { uid } = standing.workload.metadata;
    const outcome = await world.restart(standing);
    const now = world.now();
    if (outcome === 'conflict') return { kind: 'waiting', reason: 'Conflict', until: now };
    if (outcome !== 'begun') return this.#remember(uid, outcome.refused, now);
    this.#refused.delete(uid);
    slots.take(standing, now);
    return { kind: 'restarted' };
  }

  #remember(uid: string, message: string, now: number): RestartVerdict {
    const attempts = (this.#refused.get(uid)?.attempts ?? 0) + 1;
    const wait = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LONGEST_RETRY_MS);
    this.#refused.set(uid, { attempts, until: now + wait, message });
    return { kind: 'refused', message, until: now + wait };
  }

  /** Of workloads that are gone. */
  #forget(standings: readonly Standing[]): void {
    const there = new Set(standings.map(({ workload }) => workload.metadata.uid));
    for (const memory of [this.#fresh, this.#older, this.#refused]) {
      for (const uid of memory.keys()) if (!there.has(uid)) memory.delete(uid);
    }
  }
}

/** Whether one of the pods runs with a certificate that is older than one of the workload's. */
export function isOutdated(pods: readonly Pod[], { changes }: Pick<Standing, 'changes'>): boolean {
  return pods.some((pod) => changes.some(({ leaf, use }) => holdsOlder(pod, leaf, use)));
}

const CURRENT: RestartVerdict = { kind: 'current' };

function whyNotYet(standing: Standing, now: number): RestartVerdict | undefined {
  const { workload, dueAt, deadline } = standing;
  if (desiredPods(workload) === 0) return CURRENT;
  if (dueAt > now) return { kind: 'waiting', reason: 'NotDue', until: dueAt };
  const rollout = rolloutOf(workload);
  if (rollout.kind === 'held') return rollout;
  // One that never ends, such as a DaemonSet's with a lost node, must not outlast the certificate.
  if (rollout.kind === 'progressing' && now < deadline) {
    return { kind: 'waiting', reason: 'RolloutInProgress', until: deadline };
  }
  const again = (restartedAtOf(workload) ?? -Infinity) + LEAST_INTERVAL_MS;
  return again > now ? { kind: 'waiting', reason: 'Interval', until: again } : undefined;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
