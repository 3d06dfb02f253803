// SPDX-License-Identifier: Apache-2.0
import { isAlive, type Pod } from '#api/object/pod.ts';
import { formatRecord } from './record.ts';
import type { RestartState } from './restart-state.ts';
import { desiredPods } from './rollout.ts';

/** Time after an eviction for which its workload counts as restarting. */
const SETTLING_MS = 60_000;

interface WorkloadEvictions {
  /** The certificates for which its pods are evicted. */
  readonly record: string;
  /** Pods that existed when the first was evicted. Their replacements are not evicted. */
  readonly pods: ReadonlySet<string>;
  /** UIDs of the evicted pods. */
  readonly gone: Set<string>;
  /** Time of the last eviction. */
  at: number;
}

/**
 * Selects the pods to evict, one at a time. Each pod is evicted once for the same certificates, and
 * no replacement is, so that this ends whatever the clocks of nodes show.
 */
export class PodEvictions {
  readonly #evicted = new Map<string, WorkloadEvictions>();

  /**
   * Returns the next pod to evict, and remembers the pods of its workload. `wait`: a pod of the
   * workload is not ready. `done`: no pod is left that may be evicted for these certificates.
   */
  beginNext(
    state: RestartState,
    { pods, older }: { readonly pods: readonly Pod[]; readonly older: readonly Pod[] },
  ): Pod | 'wait' | 'done' {
    const known = this.#of(state);
    const left = older.filter(
      ({ metadata: { uid } }) =>
        known === undefined || (known.pods.has(uid) && !known.gone.has(uid)),
    );
    const [first] = left;
    if (first === undefined) return 'done';
    this.#begin(state, pods);
    // A pod that is not ready serves no one, so its eviction takes nothing away.
    const idle = left.find((pod) => !isReady(pod));
    if (idle !== undefined) return idle;
    const ready = pods.filter((pod) => isAlive(pod) && isReady(pod)).length;
    return ready < (desiredPods(state.workload) ?? 1) ? 'wait' : first;
  }

  /** Records an eviction. */
  evicted(state: RestartState, { metadata }: Pod, now: number): void {
    const known = this.#of(state);
    known?.gone.add(metadata.uid);
    if (known !== undefined) known.at = now;
  }

  /** Returns the workloads with an eviction in the last minute, and its time. */
  recent(
    states: readonly RestartState[],
    now: number,
  ): readonly { readonly state: RestartState; readonly at: number }[] {
    return states.flatMap((state) => {
      const { at = -Infinity } = this.#evicted.get(state.workload.metadata.uid) ?? {};
      return now - at < SETTLING_MS ? [{ state, at }] : [];
    });
  }

  /** Forgets deleted workloads. */
  forget(there: ReadonlySet<string>): void {
    for (const uid of this.#evicted.keys()) if (!there.has(uid)) this.#evicted.delete(uid);
  }

  #of({ workload, record }: RestartState): WorkloadEvictions | undefined {
    const known = this.#evicted.get(workload.metadata.uid);
    return known?.record === formatRecord(record) ? known : undefined;
  }

  #begin(state: RestartState, pods: readonly Pod[]): void {
    if (this.#of(state) !== undefined) return;
    this.#evicted.set(state.workload.metadata.uid, {
      record: formatRecord(state.record),
      pods: new Set(pods.map(({ metadata }) => metadata.uid)),
      gone: new Set(),
      at: -Infinity,
    });
  }
}

function isReady({ status = {} }: Pod): boolean {
  const { conditions = [] } = status;
  return conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True');
}
