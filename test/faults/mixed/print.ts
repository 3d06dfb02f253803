// SPDX-License-Identifier: Apache-2.0
import type { Judged } from '../oracle/court.ts';
import { wastedOf } from '../oracle/judge.ts';
import type { Tally } from '../proxy/tally.ts';

/**
 * At most one signature in 1,000 requests is in vain, and in a short run at most
 * {@link FEW_WASTED}. A short run has the same three kills of processes that sign as a long one,
 * and each wastes what was signed and not written at that moment: the count does not shrink with
 * the number of requests.
 */
export function mostWasted(requests: number): number {
  return Math.max(FEW_WASTED, requests / 1000);
}

/**
 * Six runs of 1,000 wasted 1, 1, 2, 0, 1 and 0: a mean of 0.8. By Poisson, more than four come once
 * in 600 runs, and more than one, what 1 in 1,000 would allow, in every fifth.
 */
const FEW_WASTED = 4;

/** What was done, and what came of it. */
export function printReport(tally: Tally, judged: Judged, seconds: number): void {
  console.log('\nfaults injected');
  for (const [fault, count] of tally.counts()) {
    console.log(`  ${String(count).padStart(7)}  ${fault}`);
  }
  const count = (begin: string): number =>
    judged.violations.filter(({ what }) => what.startsWith(begin)).length;
  const wasted = wastedOf(judged);
  const rows: readonly (readonly [string, string | number])[] = [
    ['requests', judged.requests],
    ['delivered', judged.delivered],
    ['lost', count('lost')],
    ['written twice', count('its ')],
    ['Denied or Failed', count('ended as')],
    ['bad certificates', count('bad certificate')],
    [
      'other violations',
      judged.violations.length -
        ['lost', 'its ', 'ended as', 'bad certificate'].reduce((sum, each) => sum + count(each), 0),
    ],
    ['signatures', judged.signed],
    ['signed in vain', `${wasted} (${((wasted / judged.requests) * 1000).toFixed(2)} in 1,000)`],
    ['… by a process that runs', judged.wastedByRunning],
    ['seconds', seconds.toFixed(0)],
  ];
  console.log('\noutcome');
  for (const [name, value] of rows) console.log(`  ${name.padEnd(26)} ${value}`);
  if (judged.report.length > 0) console.log(`\n${judged.report.join('\n')}`);
}
