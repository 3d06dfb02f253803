// SPDX-License-Identifier: Apache-2.0
import type { Pod } from '../api/object/pod.ts';
import { isOutdated, Refresher, type RefreshWorld } from './refresher.ts';
import type { RestartLimits } from './restart-slots.ts';
import type { Standing } from './standing.ts';
import type { RestartVerdict } from './verdict.ts';

/**
 * What would become of each workload if pod-refresher were started now. Restarts nobody, and lists the pods of each workload
 * once at most. Workloads that wait, and need no restart when it is their turn, are current: a pass looks at their pods only then.
 */
export async function forecast(
  standings: readonly Standing[],
  limits: RestartLimits,
  world: Omit<RefreshWorld, 'restart'>,
): Promise<ReadonlyMap<string, RestartVerdict>> {
  const listed = new Map<string, Promise<readonly Pod[]>>();
  const podsOf = (standing: Standing): Promise<readonly Pod[]> => {
    const pods = listed.get(standing.key) ?? world.podsOf(standing);
    listed.set(standing.key, pods);
    return pods;
  };
  const passed = await new Refresher(limits).pass(standings, {
    ...world,
    podsOf,
    // Nothing is written: it takes a slot, so that the next one is told to wait for it.
    restart: () => Promise.resolve('begun'),
  });
  const verdicts = new Map(passed);
  for (const standing of standings) {
    const kind = verdicts.get(standing.key)?.kind;
    if (kind !== 'waiting' && kind !== 'held') continue;
    if (!isOutdated(await podsOf(standing), standing)) {
      verdicts.set(standing.key, { kind: 'current' });
    }
  }
  return verdicts;
}
