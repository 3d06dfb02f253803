// SPDX-License-Identifier: Apache-2.0
/** `node test/cel/cost-search/main.ts [seconds] [seed]`: exits with 1 where a price is too low. */
import { picks, search } from './search.ts';
import { MAX_PAUSE_MS, MAX_RATIO } from './limits.ts';

const seconds = Number(process.argv[2] ?? '600');
const seed = Number(process.argv[3] ?? '1');
const end = performance.now() + seconds * 1_000;
const { tried, measured, worst, longest } = search(picks(seed), () => performance.now() > end);
console.log(`seed ${seed}: ${tried} expressions, ${measured} of them over 1 ms`);
console.log('worst ratio', worst);
console.log('longest run', longest);
if ((worst?.ratio ?? 0) > MAX_RATIO || (longest?.ms ?? 0) > MAX_PAUSE_MS) process.exitCode = 1;
