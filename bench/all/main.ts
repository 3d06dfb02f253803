// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-all`: every bench, one after the other, on one cluster. `make bench-smoke` runs them
 * with the least sizes that say whether they work, and keeps nothing; `make bench-short` takes
 * an hour. ARGS: `--only start,csr`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startCluster } from '../../test/cluster/cluster.ts';
import { stateFileOf } from '../../test/cluster/state.ts';
import { CLUSTER } from '../cluster/start.ts';
import { RESULTS } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { ATTEMPTS_VARIABLE } from '../measure/undisturbed.ts';
import type { Measured } from '../report/read-results.ts';
import { missingRatios } from './missing-ratios.ts';
import { PLANS, type Plan } from './plans.ts';

const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
});
const chosen = values.only === '' ? PLANS : PLANS.filter(({ bench }) => isChosen(bench));
if (chosen.length === 0) throw new Error(`--only ${values.only}: no such bench`);

endOnSignals();
const results = values.smoke ? mkdtempSync(join(tmpdir(), 'bench-smoke-')) : RESULTS;
const cluster = await startCluster({ ...CLUSTER, log: console.log });
try {
  const failed: string[] = [];
  for (const plan of chosen) {
    // Whoever fails does not keep the others from being measured.
    if ((await run(plan, stateFileOf(cluster.directory))) !== 0) failed.push(plan.bench);
    else failed.push(...missingRatios(plan.bench, written(plan.bench)));
  }
  if (failed.length > 0) throw new Error(`failed: ${failed.join(', ')}`);
} finally {
  await cluster.stop();
  if (values.smoke) rmSync(results, { recursive: true });
}

function written(bench: string): Measured {
  return JSON.parse(readFileSync(join(results, `${bench}.json`), 'utf8')) as Measured;
}

/** @returns its exit code */
async function run(plan: Plan, state: string): Promise<number | null> {
  const { bench } = plan;
  const args = plan[values.smoke ? 'smoke' : values.short ? 'short' : 'full'];
  console.log(`\n== ${bench} ${args.join(' ')}`);
  const script = join(import.meta.dirname, '..', bench, 'main.ts');
  const child = spawn(process.execPath, [script, ...args, '--results', results], {
    stdio: 'inherit',
    env: {
      ...process.env,
      COUNTERSIGN_TEST_CLUSTER: state,
      ...(values.smoke ? { [ATTEMPTS_VARIABLE]: '1' } : {}),
    },
  });
  const kill = (): boolean => child.kill('SIGTERM');
  process.once('exit', kill);
  await once(child, 'exit');
  process.off('exit', kill);
  return child.exitCode;
}

function isChosen(bench: string): boolean {
  return values.only.split(',').includes(bench);
}
