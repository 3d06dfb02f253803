// SPDX-License-Identifier: Apache-2.0
import type { Workload } from '#api/workload/workload.ts';
import { rolloutOf } from './rollout.ts';
import type { RestartState } from './restart-state.ts';
import type { RestartTimes } from './restart-times.ts';
import type { RestartVerdict } from './verdict.ts';

/** Limits of restarts. */
export interface RestartLimits {
  /** Maximum rollouts in progress. */
  readonly concurrent: number;
  readonly concurrentInNamespace: number;
  /** Maximum rollouts begun within a minute. */
  readonly perMinute: number;
  readonly perMinuteInNamespace: number;
  /** Maximum time to wait for a rollout. */
  readonly rolloutTimeoutMs: number;
}

const MINUTE_MS = 60_000;

/** Usage of one limit. */
interface Usage {
  running: number;
  /** Times at which the restarts of the last minute began. */
  readonly begun: number[];
}

/** Tracks the remaining capacity of the limits, by the times and statuses of the workloads. */
export class RestartSlots {
  readonly #limits: RestartLimits;
  readonly #all: Usage = { running: 0, begun: [] };
  readonly #namespaces = new Map<string, Usage>();

  constructor(
    limits: RestartLimits,
    states: readonly RestartState[],
    { times, now }: { readonly times: RestartTimes; readonly now: number },
  ) {
    this.#limits = limits;
    for (const state of states) {
      const { workload } = state;
      const at = times.of(state, now);
      if (at === undefined) continue;
      const isRunning =
        times.isWithin(state, limits.rolloutTimeoutMs, now) &&
        rolloutOf(workload).kind === 'progressing';
      this.#count(workload, { at, isRunning }, now);
    }
  }

  /** Returns why the workload must wait for others, or undefined if a slot is free. */
  full({ workload }: RestartState, now: number): RestartVerdict | undefined {
    const { concurrent, concurrentInNamespace, perMinute, perMinuteInNamespace } = this.#limits;
    const own = this.#usageOf(workload);
    if (isUsed(this.#all, concurrent, perMinute)) return waiting('Rate', this.#all, perMinute, now);
    return isUsed(own, concurrentInNamespace, perMinuteInNamespace)
      ? waiting('NamespaceRate', own, perMinuteInNamespace, now)
      : undefined;
  }

  /** Records that a restart has begun, or that one which began at `at` is in progress. */
  take({ workload }: RestartState, now: number, at = now): void {
    this.#count(workload, { at, isRunning: true }, now);
  }

  #count(
    workload: Workload,
    { at, isRunning }: { readonly at: number; readonly isRunning: boolean },
    now: number,
  ): void {
    const { concurrentInNamespace, perMinuteInNamespace } = this.#limits;
    const own = this.#usageOf(workload);
    // A user who writes these labels takes no more from others than the limit of the namespace.
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

/**
 * Returns the verdict of a full limit. A watch reports the end of a rollout, and a minute ends at a
 * known time.
 */
function waiting(
  reason: 'Rate' | 'NamespaceRate',
  { begun }: Usage,
  perMinute: number,
  now: number,
): RestartVerdict {
  const until = begun.length < perMinute ? undefined : Math.min(...begun) + MINUTE_MS;
  return { kind: 'waiting', reason, until: until === undefined ? undefined : Math.max(until, now) };
}
