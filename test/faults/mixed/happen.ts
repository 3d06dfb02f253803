// SPDX-License-Identifier: Apache-2.0
import type { Lab } from '../lab/lab.ts';
import type { Happening } from './timetable.ts';

/**
 * Does what the timetable has, each when so much of the load is made.
 *
 * @param progress - from 0 to 1
 */
export async function happen(
  at: Lab,
  timetable: readonly Happening[],
  progress: () => number,
): Promise<void> {
  for (const each of timetable) {
    while (progress() < each.at) await new Promise((resolve) => setTimeout(resolve, 50));
    at.proxy.tally.noted(`${each.whom}: ${each.what}`, each.whom);
    console.log(`${each.whom}: ${each.what}`);
    // A server that is slow to come back on a busy machine is one more outage; one that never does
    // leaves requests that never end, and the verdict says so.
    await each.happen(at).catch((error: unknown) => {
      console.log(`${each.whom}: ${String(error)}`);
    });
  }
}
