// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../report/marks.ts';

/** What one certificate costs, in microseconds of one core. */
export interface Costs {
  /** Of a replica: decide, sign, write and take in the answer. */
  readonly issue: number;
  /** Of a replica: read a watch event about a request that is another's. */
  readonly hear: number;
  /** Of a ledger and its database, before the status is written; 0 without one. */
  readonly record: number;
  /** Of the API server: admit, validate and store one status, without those who watch it. */
  readonly write: number;
  /** Of the API server: send one event to one watch. */
  readonly tell: number;
  /** Of etcd, which stores one write after another. */
  readonly store: number;
}

/** A request is created, gets its status and is deleted; its watch hears of each. */
export const EVENTS_PER_REQUEST = 3;
/**
 * In flight at once, for each replica: the workers of a pcr-issuer. Here a request counts while it
 * waits for its ledger, too. The program lets it lend its seat, which changes no table.
 */
export const IN_FLIGHT = 24;

/**
 * Estimates: what a status writer that is fed by a watch loses against one that is not (6 to 8 %,
 * design §6), halved between sender and reader.
 */
const ESTIMATED = { hear: 50, tell: 50 } as const;

/**
 * The signer's part of what a recorded certificate adds (bench/notes/ledger.md). It was measured
 * with SQLite, before requests that wait for the ledger lent their seats.
 */
const SENT_TO_LEDGER = 245;

const RESULTS = join(import.meta.dirname, '../results');

/**
 * Reads one figure of bench/results.
 *
 * @param path - its keys, from `figures`
 * @throws Error if the bench did not measure it
 */
export function figure(bench: Bench, ...path: readonly string[]): number {
  const text = readFileSync(join(RESULTS, `${bench}.json`), 'utf8');
  let found: unknown = (JSON.parse(text) as { readonly figures: unknown }).figures;
  for (const key of path) found = (found as Readonly<Record<string, unknown>> | undefined)?.[key];
  if (typeof found !== 'number')
    throw new Error(`bench/results/${bench}.json has no figure ${path.join('.')}`);
  return found;
}

type Cpu = 'contenderCpu' | 'apiServerCpu' | 'etcdCpu';

/** What a certificate of a drain costs more with a feature than without it, in one run. */
function added(bench: Bench, with_: string, without: string, ...above: string[]): Costs {
  const more = (cpu: Cpu): number =>
    figure(bench, ...above, with_, cpu) - figure(bench, ...above, without, cpu);
  return {
    issue: MEASURED.issue + more('contenderCpu'),
    hear: MEASURED.hear,
    record: 0,
    write: MEASURED.write + more('apiServerCpu'),
    tell: MEASURED.tell,
    store: MEASURED.store + more('etcdCpu'),
  };
}

/** The same with a ledger, whose process and database have cores of their own. */
function recorded(store: string): Costs {
  const all = added('ledger', store, 'off', 'drain');
  const issue = MEASURED.issue + SENT_TO_LEDGER;
  return { ...all, issue, record: all.issue - issue };
}

/**
 * Costs of `make bench` (bench/results/drain.json). Both watches, ours and that of the bench, hear
 * of the status: the API server's part of that is not in `write`.
 */
export const MEASURED: Costs = {
  ...ESTIMATED,
  issue: figure('drain', 'countersign', 'contenderCpu'),
  record: 0,
  write: figure('drain', 'countersign', 'apiServerCpu') - 2 * ESTIMATED.tell,
  store: figure('drain', 'countersign', 'etcdCpu'),
};

/** Costs with a feature of Countersign, by its name on the page. */
export const WITH_FEATURES: ReadonlyMap<string, Costs> = new Map([
  ['nothing else', MEASURED],
  ['a ledger over SQLite', recorded('sqlite')],
  ['a ledger over PostgreSQL', recorded('postgres')],
  ['names of Services', added('services', 'with', 'without')],
]);
