// SPDX-License-Identifier: Apache-2.0
/**
 * `make test-flood`: 200,000 pending requests of one signer name at once, against the shipped
 * bundle with the heap that its memory limit leaves it. Needs no cluster. ARGS:
 * `--requests 200000 --heap 320`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { residentOf } from './resident.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';
import { startComponent } from '../../support/cluster/component-process.ts';
import { POD_OLD_SPACE, podFlags } from '../../support/cluster/entrypoint-flags.ts';
import { createFlood } from './requests.ts';
import { startFloodServer } from './server.ts';
import { createSignerObjects } from './signer.ts';

const BUNDLE = join(import.meta.dirname, '../../../dist/countersign.mjs');

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '200000' },
    /** MiB of old space. */
    heap: { type: 'string', default: String(POD_OLD_SPACE) },
    /** So many of them must be answered once nothing is in their way any more. */
    answered: { type: 'string', default: '20000' },
    /** Seconds for which nothing can be answered. */
    standing: { type: 'string', default: '60' },
    only: { type: 'string' },
  },
});
const size = Number(values.requests);
const answered = Math.min(Number(values.answered), size);
if (!Number.isInteger(size) || size < 2) throw new Error('--requests: want a whole number');

const directory = mkdtempSync(join(tmpdir(), 'flood-'));
try {
  for (const scenario of SCENARIOS) {
    if (values.only === undefined || scenario.name === values.only) await play(scenario);
  }
} finally {
  rmSync(directory, { recursive: true });
}

async function play(scenario: Scenario): Promise<void> {
  const server = await startFloodServer({
    flood: createFlood(size),
    ...(await createSignerObjects()),
  });
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(configFor(server.url)), { mode: 0o600 });
  const began = performance.now();
  const process = await startComponent({
    name: 'pcr-issuer',
    kubeconfig,
    program: [globalThis.process.execPath, ...podFlags(values.heap), BUNDLE],
    // Alone: no Leases.
    args: ['--no-leases'],
  });
  try {
    await scenario.play({
      server,
      size,
      answered,
      process,
      exited: process.exited,
      standingMs: Number(values.standing) * 1_000,
    });
    const { now, most } = residentOf(process.pid);
    const seconds = ((performance.now() - began) / 1_000).toFixed(0);
    console.log(
      `${scenario.name}: ${size} requests in ${seconds} s; ${server.issued} issued, ${server.twice} twice, ${server.writes} writes; RSS ${now} MiB now, ${most} MiB at most`,
    );
    if (server.issued < answered || server.twice !== 0) globalThis.process.exitCode = 1;
  } finally {
    await process.kill();
    await server.stop();
  }
}

function configFor(server: string): object {
  const name = 'flood';
  return {
    apiVersion: 'v1',
    kind: 'Config',
    // Plain HTTP: there is no TLS whose verification could be skipped.
    clusters: [{ name, cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name, user: { token: 'none' } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
}
