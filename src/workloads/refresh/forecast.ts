// SPDX-License-Identifier: Apache-2.0
import type { Pod } from '#api/object/pod.ts';
import { isOutdated, Refresher, type RefresherDeps } from './refresher.ts';
import type { RestartLimits } from './restart-slots.ts';
import type { RestartState } from './restart-state.ts';
import type { RestartVerdict } from './verdict.ts';

/** Predicted verdict of a workload, and its restart state after its pods were read. */
export interface Forecast {
  readonly state: RestartState;
  readonly verdict: RestartVerdict;
  /** Unknown facts about its pods. */
  readonly unseen: readonly string[];
}

/**
 * Predicts the verdict of each workload if pod-refresher were started now. Restarts no workload,
 * and lists the pods of each workload at most once.
 *
 * Waiting workloads that would need no restart on their turn are current: a pass reads their pods
 * only then.
 */
export async function forecast(
  states: readonly RestartState[],
  limits: RestartLimits,
  deps: Omit<RefresherDeps, 'restart' | 'evict'>,
): Promise<readonly Forecast[]> {
  const listed = new Map<string, Promise<readonly Pod[]>>();
  const podsOf = (state: RestartState): Promise<readonly Pod[]> => {
    const pods = listed.get(state.key) ?? deps.podsOf(state);
    listed.set(state.key, pods);
    return pods;
  };
  const verdicts = await new Refresher(limits).pass(states, {
    ...deps,
    podsOf,
    // Writes nothing, but takes a slot, so that the next workload waits for it.
    restart: () => Promise.resolve('begun'),
    evict: () => Promise.resolve('begun'),
  });
  return Promise.all(
    states.map(async (state) => {
      const verdict = verdicts.get(state.key) ?? { kind: 'current' };
      // Its pods could not be listed.
      if (verdict.kind === 'refused') return { state, unseen: [], verdict };
      const { seen, unseen } = await lookedAt(state, podsOf);
      const mayWait = verdict.kind === 'waiting' || verdict.kind === 'held';
      const isFresh = mayWait && !isOutdated(await podsOf(state), seen);
      return { state: seen, unseen, verdict: isFresh ? { kind: 'current' } : verdict };
    }),
  );
}

async function lookedAt(
  state: RestartState,
  podsOf: (state: RestartState) => Promise<readonly Pod[]>,
): Promise<{ readonly seen: RestartState; readonly unseen: readonly string[] }> {
  if (state.own === undefined) return { seen: state, unseen: [] };
  const seen = state.own.with(state.own.find(await podsOf(state)));
  return { seen, unseen: seen.unseen };
}
