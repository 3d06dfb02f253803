// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '#api/object/object.ts';
import { startContender, type ContenderProcess } from '../cluster/contender-process.ts';
import type { Program } from '../cluster/contender.ts';
import { WORKLOAD } from '../cluster/ours.ts';
import { NAMESPACE, type BenchCluster } from '../cluster/start.ts';
import { between, createMeter } from '../measure/meter.ts';
import { memoryOf } from '../measure/process-memory.ts';
import { untilQuiet } from '../measure/quiet.ts';
import { REQUESTS, podRequest } from '../requests/backlog.ts';
import { POD_ISSUED, watchIssued } from '../requests/watch-issued.ts';

/** What one start took. */
export interface Start {
  /** From the start of the process: to the first certificate, or to the end of the list. */
  readonly seconds: number;
  /** CPU in milliseconds until then. */
  readonly contenderCpuMs: number;
  readonly apiServerCpuMs: number;
  /** The most memory that the process had until then. */
  readonly peakMiB: number;
  readonly otherCores: number;
}

const PATIENCE_MS = 300_000;
const METER_MS = 20;

/** Starts our pcr-issuer with one request pending, of this name, until that has its certificate. */
export async function startOurs(
  bench: BenchCluster,
  program: Program,
  { name, stub }: { readonly name: string; readonly stub: string },
): Promise<Start> {
  const { client } = bench;
  const { signerName } = WORKLOAD;
  const path = REQUESTS.collection(NAMESPACE);
  const body = podRequest({ signerName, name, stub });
  const { metadata } = await client.request<KubeObject>({ method: 'POST', path, body });
  const end = new AbortController();
  try {
    const issued = await watchIssued({
      client,
      path,
      signerName,
      mark: POD_ISSUED,
      signal: end.signal,
      resourceVersion: metadata.resourceVersion,
      size: 1,
    });
    return await measureUntil(bench, program, () => issued.all);
  } finally {
    end.abort();
    const object = REQUESTS.object({ namespace: NAMESPACE, name });
    await client.request({ method: 'DELETE', path: object });
  }
}

/** Starts the bare list until it ends, which it does with the list. */
export function startList(bench: BenchCluster, program: Program): Promise<Start> {
  return measureUntil(bench, program, async ({ ended }) => {
    if ((await ended) !== 0) throw new Error('the bare list failed');
  });
}

async function measureUntil(
  { cluster }: BenchCluster,
  program: Program,
  done: (process: ContenderProcess) => Promise<void>,
): Promise<Start> {
  await untilQuiet(cluster);
  const began = createMeter(cluster, [])();
  const running = await startContender(program, cluster.directory);
  const meter = createMeter(cluster, [running.pid]);
  let peak = 0;
  const look = (): void => {
    meter();
    peak = memoryOf(running.pid)?.peak ?? peak;
  };
  const looking = setInterval(look, METER_MS);
  const late = new AbortController();
  try {
    const patience = delay(PATIENCE_MS, undefined, { signal: late.signal, ref: false }).then(() => {
      throw new Error(`${program.name}: nothing after ${PATIENCE_MS / 1000} s`);
    });
    await Promise.race([done(running), running.failed, patience]);
    look();
    const spent = between(began, meter());
    const known = spent.contender + spent.apiServer + spent.etcd + spent.bench;
    return {
      seconds: spent.elapsed / 1e6,
      contenderCpuMs: spent.contender / 1000,
      apiServerCpuMs: spent.apiServer / 1000,
      peakMiB: peak / 2 ** 20,
      otherCores: Math.max(0, spent.machine - known) / spent.elapsed,
    };
  } finally {
    late.abort();
    clearInterval(looking);
    await running.stop();
  }
}
