// SPDX-License-Identifier: Apache-2.0
/**
 * `node test/cel/cost-search/main.ts [seconds] [seed]`: reports the findings over a limit with
 * their ratios. It measures each five times more, alone, and exits with 1 if one returns each time.
 */
import { confirm, lineOf } from './confirm.ts';
import { picks } from './random.ts';
import { search } from './search.ts';

const seconds = Number(process.argv[2] ?? '600');
const seed = Number(process.argv[3] ?? '1');
const end = performance.now() + seconds * 1_000;
const found = await search(picks(seed), () => performance.now() > end);
const { tried, measured, worst, longest, withGarbageMs, over } = found;
console.log(`seed ${seed}: ${tried} tried; over 1 ms:`, measured);
console.log('worst ratio', worst);
console.log('longest pause', longest);
console.log('longest pause with the collection of garbage', withGarbageMs);
const confirmed = await confirm(over);
for (const each of confirmed) console.log(lineOf(each));
const red = confirmed.filter(({ isRed }) => isRed).length;
console.log(`${over.length} over a limit, ${red} of them in five of five runs alone`);
if (red > 0) process.exitCode = 1;
