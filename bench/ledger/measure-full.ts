// SPDX-License-Identifier: Apache-2.0
/** The memory of a component `ledger` with a full database: idle, recording, searched, verified. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { OWN_TLS_CONFIG_MAP } from '#api/signer/own-tls.ts';
import { LOG_KEY_SECRET } from '#ledger/ledger/objects.ts';
import { SYSTEM_NAMESPACE } from '../../test/support/cluster/installation.ts';
import { namespaceOf, PREFIX } from '../../test/support/ledger/records.ts';
import { countersign, WORKLOAD } from '../cluster/ours.ts';
import { BUNDLE, type BenchCluster } from '../cluster/start.ts';
import { drainBacklog } from '../drain/measure-drain.ts';
import { memoryNow, memoryOf, type MemoryNow } from '../measure/process-memory.ts';
import { rounded } from '../measure/ratios.ts';
import { newStubs } from '../requests/backlog.ts';
import { startLedger, type RunningLedger } from './stand.ts';

const run = promisify(execFile);
const MIB = 2 ** 20;
const SETTLE_MS = 20_000;
/** One of ten records is of a person, in no namespace: `team-9` has none. */
const NAMESPACES = 9;

/** Memory of a ledger: idle, then after each kind of work, and the most that it ever had. */
export interface FullLedger {
  readonly moments: Readonly<Record<string, MemoryNow>>;
  readonly peakMiB: number;
}

/**
 * Starts a ledger over a database and reads its memory: `idle`; after a drain of `requests` that
 * are recorded; after searches by namespace, each up to the default limit; after one client
 * verified everything over the API.
 *
 * @param directory - with `ledger.db`, and its key in `log.key`
 */
export async function measureFull(
  bench: BenchCluster,
  { directory, requests }: { readonly directory: string; readonly requests: number },
): Promise<FullLedger> {
  const { cluster } = bench;
  await keepKey(bench, readFileSync(join(directory, 'log.key')));
  const ledger = await startLedger(cluster, { directory, origin: PREFIX });
  try {
    const moments: Record<string, MemoryNow> = {};
    const read = (moment: string): void => {
      const { ownMiB, residentMiB } = memoryNow(ledger.pid);
      moments[moment] = { ownMiB: rounded(ownMiB), residentMiB: rounded(residentMiB) };
      console.log(`full ledger, ${moment}: ${JSON.stringify(moments[moment])}`);
    };
    await delay(SETTLE_MS);
    read('idle');
    const program = await countersign(cluster, 'pcr-issuer', ledger.flags);
    await drainBacklog(bench, { ...program, ...WORKLOAD, name: 'full' }, newStubs(requests));
    read('recording');
    await shareCa(bench, ledger);
    for (let n = 0; n < NAMESPACES; n += 1)
      await command(bench, ledger, 'search', '--namespace', namespaceOf(n), '-o', 'csv');
    read('searched');
    await command(bench, ledger, 'verify');
    read('verified');
    return { moments, peakMiB: rounded((memoryOf(ledger.pid)?.peak ?? NaN) / MIB) };
  } finally {
    await ledger.stop();
  }
}

/** The component signs with the key of the logs in the database. */
async function keepKey({ cluster }: BenchCluster, key: Buffer): Promise<void> {
  const data = { 'log.key': key.toString('base64') };
  const patch = ['patch', 'secret', LOG_KEY_SECRET, '-n', SYSTEM_NAMESPACE, '--type', 'merge'];
  await cluster.kubectl([...patch, '-p', JSON.stringify({ data })]);
}

/** The command line reads the CA of the ledger from the ConfigMap that `authority` writes. */
async function shareCa({ cluster }: BenchCluster, ledger: RunningLedger): Promise<void> {
  const data = { 'ca.crt': readFileSync(ledger.ca, 'utf8') };
  const patch = ['patch', 'configmap', OWN_TLS_CONFIG_MAP, '-n', SYSTEM_NAMESPACE];
  await cluster.kubectl([...patch, '--type', 'merge', '-p', JSON.stringify({ data })]);
}

/** `countersign ledger …` as the cluster's administrator. @throws if it ends with another code */
async function command(
  { cluster }: BenchCluster,
  ledger: RunningLedger,
  ...words: readonly string[]
): Promise<void> {
  const place = ['--ledger-url', ledger.url, '--kubeconfig', cluster.kubeconfig];
  const args = [BUNDLE, 'ledger', ...words, ...place];
  await run(process.execPath, args, { maxBuffer: 2 ** 30 });
}
