// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import { listPages } from '#kube/watch/list-pages.ts';
import {
  POD_REQUESTS,
  VICTIM,
  createPodRequest,
  podNameOf,
} from '../../test/support/cluster/hostile-tenant.ts';
import { until } from '../../test/cluster/until.ts';
import type { BenchCluster } from '../cluster/start.ts';
import { nameIn, watchLines } from '../requests/watch-lines.ts';

/** Who answers the requests of the quiet tenant, and who answers their twins. */
export interface VictimLoad {
  readonly ours: string;
  readonly echo: string;
  readonly stub: string;
  readonly seconds: number;
  /** What comes before is not counted. */
  readonly warmUpSeconds: number;
  /** Tells the requests of one turn from those of others. */
  readonly turn: string;
}

/**
 * What became of the requests of one turn: for each second, milliseconds from the bench's watch
 * event on.
 */
export interface VictimTurn {
  /**
   * Until the API server received our write, by its audit log. What it takes to answer is not in
   * it.
   */
  readonly ours: readonly number[];
  /** The same of the echo, which does nothing: what the watch and the cores take. */
  readonly echo: readonly number[];
  /** Until the answer of the echo was in the bench's own watch: the API server's part is in it. */
  readonly echoAnswer: readonly number[];
  /** Names of the requests that were refused: an Event is due about each. */
  readonly refused: readonly string[];
}

const PATIENCE_MS = 60_000;

/** Each second a request, its twin for the echo, and one that is refused. */
export async function measureVictim(bench: BenchCluster, load: VictimLoad): Promise<VictimTurn> {
  const { client } = bench;
  const path = POD_REQUESTS.collection(VICTIM);
  const resourceVersion = await listPages({ client, path }, () => undefined);
  const end = new AbortController();
  const came = new Map<string, number>();
  const answered = new Map<string, number>();
  const watch = { client, path, fieldSelector: '', resourceVersion, signal: end.signal };
  try {
    const { done } = await watchLines(watch, (line) => {
      const name = nameIn(line);
      if (line.startsWith('{"type":"ADDED"')) came.set(name, now());
      else if (line.includes('"conditions":[') && !answered.has(name)) {
        answered.set(name, now());
      }
      return false;
    });
    const names = await createEachSecond(bench, load);
    const all = [...names.ours, ...names.echo, ...names.refused];
    const complete = until(`${load.turn}: all of ${all.length} are answered`, PATIENCE_MS, () =>
      all.every((name) => answered.has(name)),
    );
    // The watch has no last line, so it ends first only by an error.
    await Promise.race([complete, done]);
    const written = await until(`${load.turn}: all writes are in the audit log`, PATIENCE_MS, () =>
      writesOf(bench, all),
    );
    const counted = (of: readonly string[], ends: ReadonlyMap<string, number>): readonly number[] =>
      of.slice(load.warmUpSeconds).map((name) => (ends.get(name) ?? NaN) - (came.get(name) ?? NaN));
    return {
      ours: counted(names.ours, written),
      echo: counted(names.echo, written),
      echoAnswer: counted(names.echo, answered),
      refused: names.refused,
    };
  } finally {
    end.abort();
  }
}

/** Milliseconds since 1970, with fractions: the clock of the audit log. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * Returns when the API server received the first write of each status.
 *
 * @throws Error with the requests that have no write yet
 */
async function writesOf(
  { cluster }: BenchCluster,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const received = new Map<string, number>();
  for (const { objectRef, requestReceivedTimestamp } of await cluster.readAudit()) {
    const { name = '', subresource } = objectRef ?? {};
    if (subresource !== 'status' || received.has(name)) continue;
    received.set(name, microseconds(requestReceivedTimestamp) / 1000);
  }
  const missing = names.filter((name) => !received.has(name));
  if (missing.length > 0) throw new Error(`no write of the status of ${missing.join(', ')}`);
  return received;
}

/** Date reads no more than milliseconds of `2026-01-31T12:00:00.123456Z`. */
function microseconds(timestamp: string): number {
  const [, second = '', fraction = ''] = /^(.*?)(?:\.(\d+))?Z$/.exec(timestamp) ?? [];
  return Date.parse(`${second}Z`) * 1000 + Number(fraction.padEnd(6, '0'));
}

/** What the audit log has: who writes the status of the quiet tenant's requests, and when. */
export const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    {
      level: 'Metadata',
      namespaces: [VICTIM],
      verbs: ['update', 'patch'],
      resources: [{ group: 'certificates.k8s.io', resources: ['podcertificaterequests/status'] }],
    },
    { level: 'None' },
  ],
};

interface Names {
  readonly ours: readonly string[];
  readonly echo: readonly string[];
  readonly refused: readonly string[];
}

async function createEachSecond({ client }: BenchCluster, load: VictimLoad): Promise<Names> {
  const names = { ours: [] as string[], echo: [] as string[], refused: [] as string[] };
  const { stub, turn } = load;
  const begun = performance.now();
  for (let second = 0; second < load.warmUpSeconds + load.seconds; second++) {
    const early = begun + second * 1000 - performance.now();
    if (early > 0) await delay(early);
    const create = async (kind: keyof Names, signerName: string): Promise<void> => {
      const name = `${turn}-${kind}-${second}`;
      names[kind].push(name);
      const isRefused = kind === 'refused';
      await createPodRequest(client, { namespace: VICTIM, name, signerName, stub, isRefused });
    };
    // Both at once: what disturbs one disturbs the other.
    await Promise.all([create('ours', load.ours), create('echo', load.echo)]);
    await delay(500);
    await create('refused', load.ours);
  }
  return names;
}

/** Of these requests, how many an Event was written about, after at most a minute. */
export async function eventsWritten(
  { client }: BenchCluster,
  refused: readonly string[],
): Promise<number> {
  const path = `/apis/events.k8s.io/v1/namespaces/${VICTIM}/events`;
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = new Set<string>();
    await listPages({ client, path }, (event) => {
      const { regarding } = event as unknown as { readonly regarding: { readonly name: string } };
      found.add(regarding.name);
    });
    const written = refused.filter((name) => found.has(podNameOf(name))).length;
    if (written === refused.length || performance.now() > deadline) return written;
    await delay(1000);
  }
}
