// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import { until } from '../../test/cluster/until.ts';
import { startContender, type ContenderProcess } from '../cluster/contender-process.ts';
import { between, createMeter } from '../measure/meter.ts';
import { rounded } from '../measure/ratios.ts';
import { nameIn, watchLines } from '../requests/watch-lines.ts';
import type { AcmeContender } from './baselines.ts';
import { acmeCalls, apiWrites, count, type Calls } from './count.ts';
import { createRequests, newRequests, requestsIn, type Wanted } from './requests.ts';
import type { Stage } from './stage.ts';

/** What a round of requests took. CPU is in milliseconds a request. */
export interface OrdersRun {
  /** From the first POST to the last certificate. */
  readonly ordersPerSecond: number;
  readonly seconds: number;
  /** Until nothing of the requests was left to clean up. */
  readonly acmeCallsPerOrder: number;
  readonly apiWritesPerOrder: number;
  readonly contenderCpuMs: number;
  readonly apiServerCpuMs: number;
  /** Cores that were busy with anything else: Pebble, BIND and the bench are among it. */
  readonly otherCores: number;
}

export interface Round {
  readonly label: string;
  readonly size: number;
  /** Requests before the clock starts: compilers, caches and connections. */
  readonly warmUp: number;
  readonly maker: object;
}

/** Milliseconds. The slowest sleeps a minute for each record, five at once. */
const PATIENCE_MS = 1_800_000;
const NONE = /"items":\[\]/;

/** Starts a contender, has it answer requests, and ends it. */
export async function measureOrders(
  stage: Stage,
  contender: AcmeContender,
  round: Round,
): Promise<OrdersRun> {
  const running: ContenderProcess[] = [];
  const warm = `${round.label}-warm-up`;
  try {
    for (const program of contender.programs)
      running.push(await startContender(program, stage.cluster.directory));
    const failed = Promise.race(running.map((each) => each.failed));
    await Promise.race([contender.ready(), failed]);
    if (round.warmUp > 0)
      await answered(stage, contender, { ...round, label: warm, size: round.warmUp });
    const pids = running.map(({ pid }) => pid);
    return await Promise.race([answered(stage, contender, round, pids), failed]);
  } finally {
    await Promise.all(running.map((each) => each.stop()));
    // Not before: what the garbage collector deletes would be counted.
    for (const label of [warm, round.label]) await remove(stage, contender, namespaceOf(label));
  }
}

function namespaceOf(label: string): string {
  return `bench-${label}`;
}

async function remove(
  stage: Stage,
  { orders }: Pick<AcmeContender, 'orders'>,
  namespace: string,
): Promise<void> {
  await stage.cluster.kubectl([
    'delete',
    'namespace',
    namespace,
    '--wait=false',
    '--ignore-not-found',
  ]);
  await until('its Orders are gone', PATIENCE_MS, () => isEmpty(stage, orders, namespace));
}

async function answered(
  stage: Stage,
  contender: AcmeContender,
  { label, size, maker }: Round,
  pids: readonly number[] = [],
): Promise<OrdersRun> {
  const { cluster } = stage;
  const namespace = namespaceOf(label);
  await cluster.kubectl(['create', 'namespace', namespace]);
  const wanted = await newRequests(size, label);
  const end = new AbortController();
  try {
    const { all } = await untilIssued(stage, namespace, { size, signal: end.signal });
    const before = await count(stage);
    const meter = createMeter(cluster, pids);
    const first = meter();
    all.catch(() => undefined);
    await createRequests(stage, contender, { namespace, wanted, maker });
    await all;
    const spent = between(first, meter());
    await until('all is cleaned up', PATIENCE_MS, () =>
      isEmpty(stage, contender.challenges, namespace),
    );
    // Events are written a moment later.
    await delay(2_000);
    const after = await count(stage);
    await verify(stage, namespace, wanted);
    const [calls, writes] = [acmeCalls(stage, before, after), apiWrites(before, after)];
    if (pids.length > 0) for (const each of [calls, writes]) printEach(label, each, size);
    const known = spent.contender + spent.apiServer;
    return {
      ordersPerSecond: size / (spent.elapsed / 1e6),
      seconds: spent.elapsed / 1e6,
      acmeCallsPerOrder: sum(calls.values()) / size,
      // The bench creates and approves.
      apiWritesPerOrder: sum(writes.values()) / size - 2,
      contenderCpuMs: spent.contender / 1000 / size,
      apiServerCpuMs: spent.apiServer / 1000 / size,
      otherCores: Math.max(0, spent.machine - known) / spent.elapsed,
    };
  } finally {
    end.abort();
  }
}

/** Resolves once the watch is open; `all` when so many requests have a certificate. */
async function untilIssued(
  { client }: Stage,
  namespace: string,
  { size, signal }: { readonly size: number; readonly signal: AbortSignal },
): Promise<{ readonly all: Promise<void> }> {
  const path = requestsIn(namespace);
  const { metadata } = await client.request<{ readonly metadata: { resourceVersion: string } }>({
    method: 'GET',
    path,
  });
  const issued = new Set<string>();
  const { resourceVersion } = metadata;
  const fieldSelector = `metadata.namespace=${namespace}`;
  const { done } = await watchLines(
    { client, path, fieldSelector, resourceVersion, signal },
    (line) => {
      if (line.includes('"certificate":"')) issued.add(nameIn(line));
      return issued.size === size;
    },
  );
  const late = delay(PATIENCE_MS, undefined, { signal, ref: false }).then(() => {
    throw new Error(`${namespace}: ${issued.size} of ${size} after ${PATIENCE_MS / 1000} s`);
  });
  late.catch(() => undefined);
  return { all: Promise.race([done, late]) };
}

async function isEmpty(
  { cluster }: Stage,
  collection: string,
  namespace: string,
): Promise<boolean> {
  const path = collection.replace('{namespace}', namespace);
  return NONE.test((await cluster.kubectl(['get', '--raw', path])).stdout);
}

/** Every certificate has the names that were asked for. */
async function verify(
  { client }: Stage,
  namespace: string,
  wanted: readonly Wanted[],
): Promise<void> {
  const { items } = await client.request<{ readonly items: readonly CertificateRequest[] }>({
    method: 'GET',
    path: requestsIn(namespace),
  });
  for (const { metadata, status } of items) {
    const leaf = new X509Certificate(Buffer.from(status?.certificate ?? '', 'base64'));
    const names = wanted[Number(metadata.name.split('-')[1])]?.dnsNames ?? [];
    const has = leaf.subjectAltName?.split(', ').toSorted().join();
    if (has !== names.map((each) => `DNS:${each}`).join())
      throw new Error(`${namespace}/${metadata.name} has the names ${has}`);
  }
}

/** How many of each a request. */
function printEach(label: string, calls: Calls, size: number): void {
  const each = [...calls].map(([what, many]) => `${what} ${rounded(many / size)}`);
  console.log(`${label}: ${each.join(', ')}`);
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((all, each) => all + each, 0);
}
