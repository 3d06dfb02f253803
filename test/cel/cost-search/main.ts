// SPDX-License-Identifier: Apache-2.0
/** `node test/cel/cost-search/main.ts [seconds] [seed]`: exits with 1 where a price is too low. */
import { search } from './search.ts';
import { MAX_PAUSE_MS, MAX_RATIO } from './limits.ts';
import { picks } from './random.ts';

const seconds = Number(process.argv[2] ?? '600');
const seed = Number(process.argv[3] ?? '1');
const end = performance.now() + seconds * 1_000;
const found = await search(picks(seed), () => performance.now() > end);
const { tried, measured, worst, longest, withGarbageMs } = found;
console.log(`seed ${seed}: ${tried} tried; over 1 ms:`, measured);
console.log('worst ratio', worst);
console.log('longest pause', longest);
console.log('longest pause with the collection of garbage', withGarbageMs);
if ((worst?.ratio ?? 0) > MAX_RATIO || (longest?.pause?.ms ?? 0) > MAX_PAUSE_MS)
  process.exitCode = 1;
