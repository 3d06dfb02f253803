// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startContender, type ContenderProcess } from '../cluster/contender-process.ts';
import { WORKLOAD } from '../cluster/ours.ts';
import { createPeer } from '../cluster/peer.ts';
import { NAMESPACE, type BenchCluster } from '../cluster/start.ts';
import { until } from '../../test/cluster/until.ts';
import { REQUESTS } from '../requests/backlog.ts';
import { removeAll } from '../requests/remove-all.ts';
import { issueAll } from './issue-all.ts';
import { settledResident } from './resident.ts';

export interface FinishedInit {
  readonly objects: number;
  /** Seconds of standstill before each reading. */
  readonly settle: number;
  readonly stubs: readonly string[];
}

/** Growth by the same finished requests. */
export interface Finished {
  /** MiB with the first tenth of the requests there, and with all. */
  readonly countersign: Growth;
  readonly informer: Growth;
}

interface Growth {
  readonly beforeMiB: number;
  readonly afterMiB: number;
  readonly bytesAnObject: number;
}

const PATIENCE_MS = 600_000;
const MEBI = 2 ** 20;

/**
 * Ours issues requests that stay, client-node's informer mirrors them beside it: what does each
 * grow by for a finished one? A tenth comes before the first reading, so that no start-up is in it.
 */
export async function measureFinished(
  bench: BenchCluster,
  ours: ContenderProcess,
  { objects, settle, stubs }: FinishedInit,
): Promise<Finished> {
  const file = join(bench.cluster.directory, 'informer.count');
  const kubeconfig = await createPeer(bench.cluster, { name: 'informer', ...WORKLOAD });
  const script = join(import.meta.dirname, 'informer.ts');
  const command = [process.execPath, script, kubeconfig, file] as const;
  const peer = await startContender({ name: 'informer', command }, bench.cluster.directory);
  const seen = (count: number): Promise<unknown> =>
    Promise.race([
      until(
        `the informer has ${count}`,
        PATIENCE_MS,
        () => existsSync(file) && Number(readFileSync(file, 'utf8')) >= count,
      ),
      peer.failed,
    ]);
  const read = (): Promise<[number, number]> =>
    Promise.all([settledResident(ours.pid, settle), settledResident(peer.pid, settle)]);
  try {
    const first = Math.ceil(objects / 10);
    await issueAll(bench, ours, { prefix: 'first', size: first, stubs });
    await seen(first);
    const before = await read();
    await issueAll(bench, ours, { prefix: 'kept', size: objects, stubs });
    await seen(first + objects);
    const after = await read();
    const growth = (index: 0 | 1): Growth => ({
      beforeMiB: before[index] / MEBI,
      afterMiB: after[index] / MEBI,
      bytesAnObject: (after[index] - before[index]) / objects,
    });
    return { countersign: growth(0), informer: growth(1) };
  } finally {
    await peer.stop();
    const { signerName } = WORKLOAD;
    await removeAll(bench.client, REQUESTS.collection(NAMESPACE), {
      fieldSelector: `spec.signerName=${signerName}`,
    });
  }
}
