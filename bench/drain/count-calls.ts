// SPDX-License-Identifier: Apache-2.0
import { startContender } from '../cluster/contender-process.ts';
import type { Contender } from '../cluster/contender.ts';
import { NAMESPACE, type BenchCluster } from '../cluster/start.ts';
import { readApiCalls, type ApiCalls } from '../measure/api-calls.ts';
import { untilQuiet } from '../measure/quiet.ts';
import { REQUESTS, type Backlog } from '../requests/backlog.ts';
import { verifyIssued } from '../requests/verify-issued.ts';
import { POD_ISSUED, watchIssued } from '../requests/watch-issued.ts';
import { until } from '../../test/cluster/until.ts';

const PATIENCE_MS = 600_000;

/**
 * What a drain costs in calls a certificate, from the start of the contender to its end: lists,
 * watches and reviews of its rights included. Everybody else who asks the API server is halted
 * meanwhile; what the API server asks itself (its own Lease, every 10 s) counts as the contender's.
 */
export async function countCalls(
  { cluster, client }: BenchCluster,
  contender: Contender,
  backlog: Backlog,
): Promise<ApiCalls> {
  const { size, signerName } = backlog;
  const { resourceVersion } = await backlog.list();
  await untilQuiet(cluster);
  const others = [cluster.controllerManager, cluster.scheduler];
  const end = new AbortController();
  try {
    for (const other of others) other.signal('SIGSTOP');
    const issued = await watchIssued({
      client,
      signerName,
      resourceVersion,
      signal: end.signal,
      mark: POD_ISSUED,
      path: REQUESTS.collection(NAMESPACE),
      // More than there are: the bench's own watch is not to end, and count, before the second
      // reading.
      size: size + 1,
    });
    const before = await readApiCalls(client);
    const running = await startContender(contender, cluster.directory);
    try {
      const all = until('all are issued', PATIENCE_MS, () => issued.seen() === size);
      await Promise.race([all, running.failed]);
    } finally {
      await running.stop();
    }
    const after = await readApiCalls(client);
    await verifyIssued(client, contender, backlog);
    // The first reading is in the second one.
    return {
      all: (after.all - before.all - 1) / size,
      mutating: (after.mutating - before.mutating) / size,
    };
  } finally {
    for (const other of others) other.signal('SIGCONT');
    end.abort();
  }
}
