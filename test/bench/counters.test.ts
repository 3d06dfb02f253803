// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldStacks } from '../../bench/counters/fold-stacks.ts';
import { countersEach, readCounters } from '../../bench/measure/thread-counters.ts';
import { flameGraph } from '../../bench/report/flame-graph.ts';

const frame = (functionName: string, url = 'file:///dist/countersign.mjs'): object => ({
  functionName,
  url,
});
/** (root) → run → sign and node:net's write; and (root) → (idle). */
const PROFILE = {
  nodes: [
    { id: 1, callFrame: frame('(root)', ''), children: [2, 5] },
    { id: 2, callFrame: frame('run'), children: [3, 4] },
    { id: 3, callFrame: frame('sign') },
    { id: 4, callFrame: frame('write', 'node:net') },
    { id: 5, callFrame: frame('(idle)', '') },
  ],
  samples: [3, 3, 4, 5, 2],
  timeDeltas: [100, 100, 50, 900, 10],
} as Parameters<typeof foldStacks>[0];

test('stacks are folded with the time of each, and rest is left out', () => {
  assert.equal(foldStacks(PROFILE), 'run 10\nrun;node:net:write 50\nrun;sign 200\n');
});

test('a stack that is too small for the graph counts for its caller', () => {
  const nodes = [
    { id: 1, callFrame: frame('(root)', ''), children: [2] },
    { id: 2, callFrame: frame('run'), children: [3] },
    { id: 3, callFrame: frame('decode'), children: [4, 5] },
    { id: 4, callFrame: frame('read') },
    { id: 5, callFrame: frame('skip') },
  ];
  const small = { nodes, samples: [2, 4, 5], timeDeltas: [10_000, 6, 6] };
  assert.equal(foldStacks(small as typeof PROFILE), 'run 10000\nrun;decode 12\n');
});

test('a box of the flame graph is as wide as its share of the time', () => {
  const drawn = flameGraph(foldStacks(PROFILE));
  const widthOf = (title: string): number =>
    Number(new RegExp(`<title>${title}</title><rect [^>]*width="([\\d.]+)"`).exec(drawn)?.[1]);
  assert.equal(widthOf('run 100.0 %'), 1_200);
  assert.ok(Math.abs(widthOf('sign 76.9 %') - (1_200 * 200) / 260) < 0.1);
  assert.ok(Math.abs(widthOf('node:net:write 19.2 %') - (1_200 * 50) / 260) < 0.1);
});

test('a function whose name is markup is drawn as text', () => {
  assert.match(flameGraph('Client.<computed> 5\n'), /<title>Client\.&lt;computed&gt; 100\.0 %/);
});

test('the counters of this process grow with its work, and are given for each', () => {
  const before = readCounters(process.pid);
  let sum = 0;
  for (const end = performance.now() + 20; performance.now() < end;) sum += Math.sqrt(sum + 1);
  const each = countersEach(before, readCounters(process.pid), 10);
  assert.ok(each.cpu > 0 && each.loop > 0, String(sum));
  assert.ok(each.cpu >= each.v8 + each.pool);
});
