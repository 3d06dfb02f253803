// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import { listPages } from '#kube/watch/list-pages.ts';
import type { ContenderProcess } from '../cluster/contender-process.ts';
import { NAMESPACE, type BenchCluster } from '../cluster/start.ts';
import { between, createMeter } from '../measure/meter.ts';
import { percentile } from '../measure/percentile.ts';
import { untilQuiet } from '../measure/quiet.ts';
import { REQUESTS, podRequest } from '../requests/backlog.ts';
import { removeAll } from '../requests/remove-all.ts';
import { POD_ISSUED } from '../requests/watch-issued.ts';
import { nameIn, watchLines } from '../requests/watch-lines.ts';

/**
 * Milliseconds from the moment when a request was to come to when the bench's watch saw its
 * certificate.
 */
export interface Latency {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly most: number;
  /** Cores that were busy with anything but the contender, the cluster and the bench. */
  readonly otherCores: number;
  /** All cores together, of the number of cores: near 1 everybody waits for a core. */
  readonly busy: number;
}

export interface Load {
  readonly signerName: string;
  readonly stubs: readonly string[];
  /** When requests are to come, ms. */
  readonly arrivals: readonly number[];
  /** What comes before is not counted: connections open, compilers compile. */
  readonly warmUpMs: number;
  /** Processes that work for the contender alone. */
  readonly beside?: (() => readonly number[]) | undefined;
}

/** How long the last certificates may take. */
const PATIENCE_MS = 120_000;

/** Creates requests when their time has come, whether or not those before them are answered. */
export async function openLoop(
  bench: BenchCluster,
  contender: ContenderProcess,
  load: Load,
): Promise<Latency> {
  const { client, cluster } = bench;
  const { signerName, arrivals } = load;
  const path = REQUESTS.collection(NAMESPACE);
  const fieldSelector = `spec.signerName=${signerName}`;
  const end = new AbortController();
  const { signal } = end;
  try {
    await untilQuiet(cluster);
    const resourceVersion = await listPages({ client, path, fieldSelector }, () => undefined);
    const issuedAt = new Map<string, number>();
    const watch = { client, path, fieldSelector, resourceVersion, signal };
    const { done } = await watchLines(watch, (line) => {
      if (!line.startsWith('{"type":"MODIFIED"') || !line.includes(POD_ISSUED)) return false;
      issuedAt.set(nameIn(line), performance.now());
      return issuedAt.size === arrivals.length;
    });
    const meter = createMeter(cluster, () => [contender.pid, ...(load.beside?.() ?? [])]);
    const first = meter();
    const began = performance.now();
    await create(bench, load, began);
    const late = delay(PATIENCE_MS, undefined, { signal, ref: false }).then(() => {
      throw new Error(`${signerName}: ${issuedAt.size} of ${arrivals.length} are issued`);
    });
    await Promise.race([done, late, contender.failed]);
    const spent = between(first, meter());
    const known = spent.contender + spent.apiServer + spent.etcd + spent.bench;
    return {
      ...latencyOf(load, began, issuedAt),
      otherCores: Math.max(0, spent.machine - known) / spent.elapsed,
      busy: spent.machine / spent.elapsed / navigator.hardwareConcurrency,
    };
  } finally {
    end.abort();
    await removeAll(client, path, { fieldSelector });
  }
}

async function create(
  { client }: BenchCluster,
  { arrivals, signerName, stubs }: Load,
  began: number,
): Promise<void> {
  const path = REQUESTS.collection(NAMESPACE);
  const created: Promise<unknown>[] = [];
  for (const [index, at] of arrivals.entries()) {
    const early = began + at - performance.now();
    if (early > 0) await delay(early);
    const stub = stubs[index % stubs.length] ?? '';
    const body = podRequest({ signerName, name: nameOf(index), stub });
    const sent = client.request({ method: 'POST', path, body });
    // Awaited below; until then nobody would hear of it.
    sent.catch(() => undefined);
    created.push(sent);
  }
  await Promise.all(created);
}

function latencyOf(
  { arrivals, warmUpMs }: Load,
  began: number,
  issuedAt: ReadonlyMap<string, number>,
): Omit<Latency, 'otherCores' | 'busy'> {
  const taken = arrivals.flatMap((at, index) =>
    at < warmUpMs ? [] : [(issuedAt.get(nameOf(index)) ?? NaN) - began - at],
  );
  return {
    p50: percentile(taken, 0.5),
    p90: percentile(taken, 0.9),
    p99: percentile(taken, 0.99),
    p999: percentile(taken, 0.999),
    most: percentile(taken, 1),
  };
}

function nameOf(index: number): string {
  return `open-${index}`;
}
