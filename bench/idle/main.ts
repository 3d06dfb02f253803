// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-idle` measures the memory of each component on an idle installation, and its CPU
 * time until it is ready. It measures several builds in turns on one cluster. ARGS:
 * `--bundles old.mjs,dist/countersign.mjs --components approver,signer --settle 60 --rounds 3`.
 */
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { EVERY_COMPONENT } from '../../test/support/cluster/component-process.ts';
import { BUNDLE, startBenchCluster } from '../cluster/start.ts';
import { count } from '../measure/count.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { medians } from '../measure/ratios.ts';
import { RESULTS } from '../measure/arguments.ts';
import { writeResults } from '../measure/results.ts';
import { printRatios, printRound } from '../measure/table.ts';
import { inTurns } from '../measure/turns.ts';
import { measureIdle, type Idle } from './measure-idle.ts';

const { values } = parseArgs({
  options: {
    bundles: { type: 'string', default: BUNDLE },
    components: { type: 'string', default: EVERY_COMPONENT.join(',') },
    settle: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '3' },
    results: { type: 'string', default: RESULTS },
  },
});
const settle = count('settle', values.settle, 1);
const rounds = count('rounds', values.rounds, 1);
const bundles = values.bundles.split(',').map((path) => resolve(path));
const names = EVERY_COMPONENT.filter((name) => values.components.split(',').includes(name));

endOnSignals();
const bench = await startBenchCluster(console.log);
try {
  const measured = new Map<string, Idle[]>();
  for (const [round, turn] of inTurns(bundles, rounds).entries()) {
    for (const bundle of turn) {
      const idle = await measureIdle(bench.cluster, { bundle, names, settle });
      idle.forEach((each, name) => {
        const key = `${basename(bundle, '.mjs')} ${name}`;
        measured.set(key, [...(measured.get(key) ?? []), each]);
        printRound(round + 1, key, each);
      });
    }
  }
  const typical = [...measured].map(([key, all]) => [key, medians(all)] as const);
  const shipped = typical.filter(([key]) => key.startsWith(`${basename(BUNDLE, '.mjs')} `));
  const most = (field: keyof Idle): number => Math.max(...shipped.map(([, idle]) => idle[field]));
  const ratios = {
    own_mib: most('ownMiB'),
    resident_mib: most('residentMiB'),
    ready_cpu_ms: most('readyCpuMs'),
  };
  printRatios(ratios);
  if (shipped.length > 0) {
    writeResults(values.results, 'idle', {
      ratios,
      figures: { settle, rounds, ...Object.fromEntries(typical) },
      machine: readMachine(bench.kubernetes),
    });
  }
} finally {
  await bench.stop();
}
