// SPDX-License-Identifier: Apache-2.0
import { startContender } from '../cluster/contender-process.ts';
import type { Contender } from '../cluster/contender.ts';
import type { BenchCluster } from '../cluster/start.ts';
import { drainBacklog, type Drain } from '../drain/measure-drain.ts';
import { readMetric } from '../measure/api-calls.ts';
import { untilQuiet } from '../measure/quiet.ts';
import { runRounds } from '../measure/rounds.ts';
import { createBacklog, repeated } from '../requests/backlog.ts';

export interface ForeignInit {
  readonly contenders: readonly Contender[];
  /** Of the drains. */
  readonly requests: number;
  readonly rounds: number;
  /** Others' requests, which nobody answers. */
  readonly foreign: number;
  readonly stubs: readonly string[];
}

export interface Foreign {
  /** By contender: drains without others' requests, before and after, and with them. */
  readonly without: ReadonlyMap<string, readonly Drain[]>;
  readonly beside: ReadonlyMap<string, readonly Drain[]>;
  /** Of theirs that the API server sent while only our pcr-issuer watched. */
  readonly events: number;
}

/** One a minute, spread by a quarter: on the one watch of our signer name. */
const BOOKMARK_MS = 45_000;

const FOREIGN = 'bench.example.com/foreign';

export async function measureForeign(bench: BenchCluster, init: ForeignInit): Promise<Foreign> {
  const { contenders, requests, rounds, foreign, stubs } = init;
  const drains = (): Promise<ReadonlyMap<string, readonly Drain[]>> =>
    runRounds(
      contenders.map((contender) => ({
        name: contender.name,
        measure: () => drainBacklog(bench, contender, repeated(stubs, requests)),
      })),
      rounds,
    );
  const before = await drains();
  const [ours] = contenders;
  if (ours === undefined) throw new Error('nobody is ours');
  const { events, remove } = await whileWatching(bench, ours, repeated(stubs, foreign));
  try {
    const beside = await drains();
    await remove();
    const after = await drains();
    const without = new Map(
      [...before].map(([name, of]) => [name, [...of, ...(after.get(name) ?? [])]]),
    );
    return { without, beside, events };
  } finally {
    await remove();
  }
}

/** Creates others' requests while nobody but our pcr-issuer watches any. */
async function whileWatching(
  bench: BenchCluster,
  ours: Contender,
  stubs: readonly string[],
): Promise<{ readonly events: number; readonly remove: () => Promise<void> }> {
  const { controllerManager } = bench.cluster;
  // Its garbage collector watches every kind there is.
  await controllerManager.stop();
  const running = await startContender(ours, bench.cluster.directory);
  try {
    await untilQuiet(bench.cluster);
    const before = await sentEvents(bench);
    const began = performance.now();
    const backlog = await createBacklog(bench, FOREIGN, stubs);
    const sent = (await sentEvents(bench)) - before;
    const bookmarks = 1 + Math.ceil((performance.now() - began) / BOOKMARK_MS);
    // The API server's own node authorizer watches all of them, and is sent each once.
    const events = Math.max(0, sent - stubs.length - bookmarks);
    return { events, remove: () => backlog.remove() };
  } finally {
    await running.stop();
    await controllerManager.start();
  }
}

/**
 * Watch events of PodCertificateRequests that the API server has sent so far, bookmarks included.
 */
function sentEvents({ client }: BenchCluster): Promise<number> {
  const labels = ['group="certificates.k8s.io"', 'resource="podcertificaterequests"'];
  return readMetric(client, 'apiserver_watch_events_total', labels);
}
