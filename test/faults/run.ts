// SPDX-License-Identifier: Apache-2.0
/**
 * `make test-faults-short`: the laws of test/faults/laws, one file after the other, on one control
 * plane. `--only <text>` picks files by name.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { stateFileOf } from '../cluster/state.ts';
import { openFaultCluster } from './lab/cluster.ts';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const laws = join(import.meta.dirname, 'laws');
const files = globSync('*.test.ts', { cwd: laws })
  .sort()
  .filter((name) => name.includes(values.only));

const cluster = await openFaultCluster();
const runner = spawn(
  process.execPath,
  // One after the other: whoever kills the API server kills it for all.
  [
    '--test',
    '--test-concurrency=1',
    '--test-timeout=300000',
    ...files.map((name) => join(laws, name)),
  ],
  {
    stdio: 'inherit',
    env: { ...process.env, COUNTERSIGN_TEST_CLUSTER: stateFileOf(cluster.directory) },
  },
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => runner.kill(signal));
await once(runner, 'close');
await cluster.stop();
process.exitCode = runner.exitCode ?? 1;
