// SPDX-License-Identifier: Apache-2.0
/** Watches whose lines are late, twice, in the wrong order, cut off or missing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../cluster/until.ts';
import { unended } from '../lab/ended.ts';
import { bench } from './bench.ts';

const OF_REQUESTS = ['certificatesigningrequests', 'podcertificaterequests'];
/** A broken watch is taken up again after a second or so: a few times are enough. */
const STRIKES = [3, 11, 24];

/** Rules for both kinds of requests. */
function onBoth(verb: string, ...rests: readonly string[]): string {
  return OF_REQUESTS.flatMap((plural) => rests.map((rest) => `* ${verb} ${plural} ${rest}`)).join(
    '\n',
  );
}

const PATIENCE_MS = 30_000;

const struck = (fault: string): boolean => (bench.proxy.tally.counts().get(fault) ?? 0) > 0;

for (const fault of ['cut', 'truncate', 'garble', 'duplicate', 'reorder', 'delay 50ms-300ms']) {
  test(`watch lines with "${fault}": nothing is lost, answered twice or signed in vain`, async () => {
    bench.proxy.script.set(onBoth('LINE', ...STRIKES.map((count) => `nth ${count} ${fault}`)));
    await bench.allDelivered(await bench.requests(20));
    assert.ok(struck(`LINE: ${fault.split(' ')[0] ?? ''}`));
  });
}

for (const fault of ['answer 410', 'answer 500']) {
  test(`an ERROR event in the watch, "${fault}": the watch reconnects, nothing is lost`, async () => {
    bench.proxy.script.set(onBoth('LINE', ...STRIKES.map((count) => `nth ${count} ${fault}`)));
    await bench.allDelivered(await bench.requests(20));
  });
}

for (const fault of ['answer 410', 'answer 429 retry-after 1', 'answer 503', 'answer 401', 'cut']) {
  test(`a watch cannot be opened, "${fault}": it opens in the end, nothing is lost`, async () => {
    bench.proxy.script.set(onBoth('WATCH', `first 2 ${fault}`));
    bench.proxy.cut();
    await bench.allDelivered(await bench.requests(10));
    assert.ok(struck(`WATCH: ${fault.split(' ').slice(0, 2).join(' ')}`));
  });
}

test('watch lines never arrive: the next list brings their objects', async () => {
  bench.proxy.script.set(onBoth('LINE', 'every 3 drop'));
  const wanted = await bench.requests(20);
  await until('lines were dropped', PATIENCE_MS, () => struck('LINE: drop'));
  // 410 makes the list due.
  bench.proxy.script.set(onBoth('RESUME', 'answer 410'));
  bench.proxy.cut();
  await bench.allDelivered(wanted);
});

test('a watch stalls while our own writes succeed: nothing is signed or written again', async () => {
  bench.proxy.script.set('pcr-issuer ADDED podcertificaterequests nth 20 hold');
  const wanted = await bench.requests(20, ['pcr']);
  const held = await bench.proxy.held();
  const left = async (): Promise<number> => (await unended(bench.admin, wanted)).length;
  await until('all but the last one are answered', PATIENCE_MS, async () => (await left()) === 1);
  // Whatever is known of them is looked at again, in a cache that has not heard of a single write.
  const annotation = `example.com/touched=${Date.now()}`;
  await bench.cluster.kubectl(['annotate', '--overwrite', 'clustersigner/workload', annotation]);
  held.release();
  await bench.allDelivered([...wanted, ...(await bench.requests(5))]);
});
