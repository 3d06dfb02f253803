// SPDX-License-Identifier: Apache-2.0
import type { Judged } from '../oracle/court.ts';
import { wastedOf } from '../oracle/judge.ts';
import type { Tally } from '../proxy/tally.ts';

/** The law: at most so many signatures in vain for each request. */
export const MOST_WASTED = 1 / 1000;

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
    ['seconds', seconds.toFixed(0)],
  ];
  console.log('\noutcome');
  for (const [name, value] of rows) console.log(`  ${name.padEnd(18)} ${value}`);
  if (judged.report.length > 0) console.log(`\n${judged.report.join('\n')}`);
}
