// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import { createBacklog, REQUESTS, type Backlog } from '../requests/backlog.ts';
import { NAMESPACE, type BenchCluster } from '../cluster/start.ts';
import { startContender } from '../cluster/contender-process.ts';
import type { Contender } from '../cluster/contender.ts';
import { between, createMeter, type Reading } from '../measure/meter.ts';
import { untilQuiet } from '../measure/quiet.ts';
import { verifyIssued } from '../requests/verify-issued.ts';
import { POD_ISSUED, watchIssued } from '../requests/watch-issued.ts';

/**
 * What one drain took. CPU is in microseconds a certificate, all from the first to the last one.
 */
export interface Drain {
  /** From the first certificate to the last one, so that nobody's start-up counts. */
  readonly certificatesPerSecond: number;
  /** From the start of the process to the last certificate: start-up, lists and all. */
  readonly secondsFromStart: number;
  readonly secondsToFirst: number;
  readonly contenderCpu: number;
  readonly apiServerCpu: number;
  readonly etcdCpu: number;
  /** Cores that were busy with anything else, the bench's own watch included: noise. */
  readonly otherCores: number;
}

/** Called with the process of a contender. */
interface DrainMoments {
  readonly first?: (pid: number) => void;
  readonly last?: (pid: number) => void;
}

/** As slow as this nobody is who is measured here. */
const MIN_PER_SECOND = 25;
const START_MS = 60_000;
/** While the first one is awaited, and for who ends at once after the last one. */
const METER_MS = 20;

/**
 * Creates a backlog for the contender, measures its drain, and removes the backlog, even after an
 * error.
 *
 * @param at - told its process at its first and at its last certificate
 */
export async function drainBacklog(
  bench: BenchCluster,
  contender: Contender,
  stubs: readonly string[],
  at?: DrainMoments,
): Promise<Drain> {
  const backlog = await createBacklog(bench, contender.signerName, stubs);
  try {
    return await measureDrain(bench, contender, backlog, at);
  } finally {
    await backlog.remove();
  }
}

/**
 * Starts the contender on its backlog, measures until all are Issued, verifies, and ends it.
 *
 * @param at - told its process at its first and at its last certificate
 */
export async function measureDrain(
  { cluster, client }: BenchCluster,
  contender: Contender,
  backlog: Backlog,
  at: DrainMoments = {},
): Promise<Drain> {
  const { size, signerName } = backlog;
  const { resourceVersion } = await backlog.list();
  await untilQuiet(cluster);
  const end = new AbortController();
  const { signal } = end;
  const issued = await watchIssued({
    client,
    signerName,
    resourceVersion,
    size,
    signal,
    path: REQUESTS.collection(NAMESPACE),
    mark: POD_ISSUED,
  });
  const began = performance.now() * 1000;
  const running = await startContender(contender, cluster.directory);
  const meter = createMeter(cluster, () => [running.pid, ...(contender.beside?.() ?? [])]);
  const metering = setInterval(meter, METER_MS);
  try {
    const patience = START_MS + (size / MIN_PER_SECOND) * 1000;
    const late = delay(patience, undefined, { signal, ref: false }).then(() => {
      throw new Error(`${contender.name}: ${issued.seen()} of ${size} after ${patience / 1000} s`);
    });
    const first = issued.first.then(() => {
      at.first?.(running.pid);
      return meter();
    });
    await Promise.race([issued.all, running.failed, late]);
    const last = meter();
    clearInterval(metering);
    at.last?.(running.pid);
    await verifyIssued(client, contender, backlog);
    return drainOf(size, { began, first: await first, last });
  } finally {
    clearInterval(metering);
    end.abort();
    await running.stop();
  }
}

export function drainOf(
  size: number,
  { began, first, last }: { began: number; first: Reading; last: Reading },
): Drain {
  const spent = between(first, last);
  // The first certificate was made before its moment.
  const certificates = size - 1;
  const known = spent.contender + spent.apiServer + spent.etcd;
  return {
    certificatesPerSecond: certificates / (spent.elapsed / 1e6),
    secondsFromStart: (last.elapsed - began) / 1e6,
    secondsToFirst: (first.elapsed - began) / 1e6,
    contenderCpu: spent.contender / certificates,
    apiServerCpu: spent.apiServer / certificates,
    etcdCpu: spent.etcd / certificates,
    otherCores: Math.max(0, spent.machine - known) / spent.elapsed,
  };
}
