// SPDX-License-Identifier: Apache-2.0
import { restartedAtOf } from './record.ts';
import type { RestartState } from './restart-state.ts';

/** Maximum difference of two clocks. */
const CLOCK_DIFFERENCE_MS = 60_000;

/**
 * Times of the last restarts, in milliseconds since the epoch. The labels on the workloads show
 * those of the previous process, so the first pass reads them. Later a label counts no more: a user
 * who rewrites one would hold a slot for as long as the user chooses.
 */
export class RestartTimes {
  /** UID → time. */
  readonly #workloads = new Map<string, number>();
  /** Namespace → time, of restarts by this process. */
  readonly #namespaces = new Map<string, number>();
  #areLabelsRead = false;

  /** Reads the labels in the first pass. */
  readLabels(states: readonly RestartState[]): void {
    if (this.#areLabelsRead) return;
    this.#areLabelsRead = true;
    for (const { workload } of states) {
      const at = restartedAtOf(workload);
      if (at !== undefined) this.#workloads.set(workload.metadata.uid, at);
    }
  }

  /** Has the next pass read the labels, which another process may have written since. */
  expectLabels(): void {
    this.#areLabelsRead = false;
  }

  /** Records that a restart has begun. */
  begun({ workload: { metadata } }: RestartState, now: number): void {
    this.#workloads.set(metadata.uid, now);
    this.#namespaces.set(metadata.namespace ?? '', now);
  }

  /**
   * Returns the time of the last restart. We never write a future time, which would count for as
   * long as its writer chooses.
   */
  of({ workload }: RestartState, now: number): number | undefined {
    const at = this.#workloads.get(workload.metadata.uid);
    return at === undefined || at > now + CLOCK_DIFFERENCE_MS ? undefined : at;
  }

  /** Reports whether the last restart began less than a duration ago. */
  isWithin(state: RestartState, durationMs: number, now: number): boolean {
    const at = this.of(state, now);
    return at !== undefined && now - at < durationMs;
  }

  /**
   * Returns the workloads in the order of their turns: by their deadlines. A namespace that had a
   * restart after a deadline which has passed yields to the namespace that waits. The workloads of
   * such a namespace have one turn, and keep the order of their deadlines.
   */
  inTurns(deadlines: ReadonlyMap<RestartState, number>): readonly RestartState[] {
    const turns = [...deadlines].map(([state, deadline]) => {
      const { namespace = '' } = state.workload.metadata;
      return {
        state,
        deadline,
        turn: Math.max(deadline, this.#namespaces.get(namespace) ?? -Infinity),
      };
    });
    return turns
      .sort(
        (a, b) =>
          compare(a.turn, b.turn) ||
          compare(a.deadline, b.deadline) ||
          compare(a.state.key, b.state.key),
      )
      .map(({ state }) => state);
  }

  /** Forgets deleted workloads, and namespaces without any. */
  forget(states: readonly RestartState[]): void {
    const uids = new Set(states.map(({ workload }) => workload.metadata.uid));
    const namespaces = new Set(states.map(({ workload }) => workload.metadata.namespace ?? ''));
    for (const uid of this.#workloads.keys()) if (!uids.has(uid)) this.#workloads.delete(uid);
    for (const name of this.#namespaces.keys())
      if (!namespaces.has(name)) this.#namespaces.delete(name);
  }
}

function compare<T extends number | string>(a: T, b: T): number {
  return a < b ? -1 : Number(a > b);
}
