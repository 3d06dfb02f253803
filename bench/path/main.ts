// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-path`: what a certificate costs us of CPU time, from the watch's frame to the answer
 * to its write, against an API server that does nothing. Several builds in turns; others on the
 * machine slow them down, and count for none of them. ARGS:
 * `--bundles old.mjs,dist/countersign.mjs --requests 6000 --rounds 3 --node=--cpu-prof`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BUNDLE } from '../cluster/start.ts';
import { count } from '../measure/count.ts';
import { cpuTimeOf } from '../measure/cpu-time.ts';
import { median } from '../measure/median.ts';
import { inTurns } from '../measure/turns.ts';
import { COLD, measurePath } from './measure-path.ts';

const { values } = parseArgs({
  options: {
    bundles: { type: 'string', default: BUNDLE },
    requests: { type: 'string', default: '6000' },
    rounds: { type: 'string', default: '3' },
    /** Flags for Node, separated by commas. */
    node: { type: 'string', default: '' },
  },
});
const requests = count('requests', values.requests, COLD + 1);
const rounds = count('rounds', values.rounds, 1);
const flags = values.node.split(',').filter((flag) => flag !== '');

/** Microseconds a certificate, all threads: of the first thousand, of those behind them, of all. */
interface Spent {
  readonly cold: number;
  readonly warm: number;
  readonly all: number;
}

const directory = mkdtempSync(join(tmpdir(), 'bench-path-'));
try {
  const bundles = values.bundles.split(',').map((path) => resolve(path));
  const spent = new Map<string, Spent[]>(bundles.map((path) => [path, []]));
  for (const [round, turn] of inTurns(bundles, rounds).entries()) {
    for (const bundle of turn) {
      const one = await measure(bundle);
      spent.get(bundle)?.push(one);
      print(`${round + 1} ${basename(bundle)}`, one);
    }
  }
  for (const [bundle, all] of spent) {
    const typical = (field: keyof Spent): number => median(all.map((each) => each[field]));
    print(`median ${basename(bundle)}`, {
      cold: typical('cold'),
      warm: typical('warm'),
      all: typical('all'),
    });
  }
} finally {
  rmSync(directory, { recursive: true });
}

async function measure(bundle: string): Promise<Spent> {
  const init = { bundle, requests, flags, directory };
  const { first, cold, last } = await measurePath(init, (pid) => cpuTimeOf(pid) ?? NaN);
  return {
    cold: (cold - first) / (COLD - 1),
    warm: (last - cold) / (requests - COLD),
    all: (last - first) / (requests - 1),
  };
}

function print(name: string, { cold, warm, all }: Spent): void {
  const figure = (value: number): string => value.toFixed(0).padStart(6);
  console.log(
    `${name.padEnd(30)}${figure(all)} µs CPU each:${figure(cold)} of the first ${COLD},${figure(warm)} of the others`,
  );
}
