// SPDX-License-Identifier: Apache-2.0
import type { Workload } from '../api/workload/workload.ts';
import { restartedAtOf } from './record.ts';
import { rolloutOf } from './rollout.ts';
import type { Standing } from './standing.ts';
import type { RestartVerdict } from './verdict.ts';

/** How many restarts at once. */
export interface RestartLimits {
  /** Rollouts in progress. */
  readonly concurrent: number;
  readonly concurrentInNamespace: number;
  /** Rollouts begun within a minute. */
  readonly perMinute: number;
  readonly perMinuteInNamespace: number;
  /** A rollout that takes longer is not waited for. */
  readonly rolloutTimeoutMs: number;
}

const MINUTE_MS = 60_000;

/** What is used of one limit. */
interface Usage {
  running: number;
  /** When the restarts of the last minute began. */
  readonly begun: number[];
}

/**
 * What is left of the limits, by the times and statuses on the workloads themselves: a process that is started anew knows
 * what the one before began.
 */
export class RestartSlots {
  readonly #limits: RestartLimits;
  readonly #all: Usage = { running: 0, begun: [] };
  readonly #namespaces = new Map<string, Usage>();

  constructor(limits: RestartLimits, standings: readonly Standing[], now: number) {
    this.#limits = limits;
    for (const { workload } of standings) {
      const at = restartedAtOf(workload);
      // We write no time to come: one would hold its slot for as long as somebody likes. Clocks differ a little.
      if (at === undefined || at > now + MINUTE_MS) continue;
      const isRunning =
        now - at < limits.rolloutTimeoutMs && rolloutOf(workload).kind === 'progressing';
      this.#count(workload, { at, isRunning }, now);
    }
  }

  /** Why the workload must wait for others; undefined where there is a slot for it. */
  full({ workload }: Standing, now: number): RestartVerdict | undefined {
    const { concurrent, concurrentInNamespace, perMinute, perMinuteInNamespace } = this.#limits;
    const own = this.#usageOf(workload);
    if (isUsed(this.#all, concurrent, perMinute)) return waiting('Rate', this.#all, perMinute, now);
    return isUsed(own, concurrentInNamespace, perMinuteInNamespace)
      ? waiting('NamespaceRate', own, perMinuteInNamespace, now)
      : undefined;
  }

  /** A restart has begun. */
  take({ workload }: Standing, now: number): void {
    this.#count(workload, { at: now, isRunning: true }, now);
  }

  #count(
    workload: Workload,
    { at, isRunning }: { readonly at: number; readonly isRunning: boolean },
    now: number,
  ): void {
    const { concurrentInNamespace, perMinuteInNamespace } = this.#limits;
    const own = this.#usageOf(workload);
    // Whoever may write the labels of a namespace takes no more from the others than it may have itself.
    const counts = [this.#all, own];
    if (isRunning && own.running < concurrentInNamespace) {
      for (const usage of counts) usage.running += 1;
    }
    if (now - at < MINUTE_MS && own.begun.length < perMinuteInNamespace) {
      for (const usage of counts) usage.begun.push(at);
    }
  }

  #usageOf({ metadata: { namespace = '' } }: Workload): Usage {
    const usage = this.#namespaces.get(namespace) ?? { running: 0, begun: [] };
    this.#namespaces.set(namespace, usage);
    return usage;
  }
}

function isUsed({ running, begun }: Usage, most: number, perMinute: number): boolean {
  return running >= most || begun.length >= perMinute;
}

/** The end of a rollout is seen by a watch; the end of a minute is a time. */
function waiting(
  reason: 'Rate' | 'NamespaceRate',
  { begun }: Usage,
  perMinute: number,
  now: number,
): RestartVerdict {
  const until = begun.length < perMinute ? undefined : Math.min(...begun) + MINUTE_MS;
  return { kind: 'waiting', reason, until: until === undefined ? undefined : Math.max(until, now) };
}
