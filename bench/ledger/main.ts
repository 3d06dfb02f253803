// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-ledger`: a ledger of a million records in SQLite, searched by each thing that is
 * known of them, and verified; the memory of a component `ledger` with that database; then what
 * recording costs a pcr-issuer on a cluster, without a ledger, over SQLite and over PostgreSQL in
 * turns. ARGS:
 * `--records 1000000 --searches 200 --requests 3000 --seconds 30 --rounds 3`. With `--records 0` or
 * `--requests 0` that part is left out, and what the results have of it stays.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startBenchCluster } from '../cluster/start.ts';
import { readArguments } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { medians } from '../measure/ratios.ts';
import { writeResults, type Results } from '../measure/results.ts';
import { printRatios } from '../measure/table.ts';
import { isDisturbed } from '../measure/undisturbed.ts';
import { startPostgres } from '../../test/support/ledger/postgres.ts';
import { armsOn } from './baselines.ts';
import { filledLedger, type FilledLedger } from './fill.ts';
import { addedMs, drainRatio, measureDrains, measureLatencies } from './measure-arms.ts';
import { measureFull, type FullLedger } from './measure-full.ts';
import { measureAppends, measureSearches, measureVerify } from './measure-store.ts';
import { applyLedger } from './stand.ts';

const sizes = readArguments({
  records: { default: 1_000_000, least: 0 },
  /** Of each kind. */
  searches: { default: 200, least: 1 },
  /** Records that are appended together, and how often, once the ledger is full. */
  batch: { default: 50, least: 1 },
  batches: { default: 200, least: 1 },
  /** Requests that are recorded in the full ledger. */
  recorded: { default: 1000, least: 2 },
  /** Of a drain. */
  requests: { default: 3000, least: 0 },
  /** Requests a second of the steady load. */
  load: { default: 50, least: 1 },
  seconds: { default: 30, least: 1 },
  rounds: { default: 3, least: 1 },
});

endOnSignals();
const parts = [
  ...(sizes.records > 0 ? [await measureStore()] : []),
  ...(sizes.requests > 1 ? [await measureRecording()] : []),
];
const { ratios, figures, machine } = merged(readBefore(), ...parts);
printRatios(ratios);
writeResults(sizes.results, 'ledger', { ratios, figures, machine });

/** What one part measures. */
type Part = Omit<Results, 'machine'> & Partial<Pick<Results, 'machine'>>;

/** What the results have of a part that is left out. */
function readBefore(): Part {
  const file = join(sizes.results, 'ledger.json');
  const isWhole = sizes.records > 0 && sizes.requests > 1;
  if (isWhole || !existsSync(file)) return { ratios: {}, figures: {} };
  return JSON.parse(readFileSync(file, 'utf8')) as Results;
}

/** The later one counts. */
function merged(...all: readonly Part[]): Results {
  return {
    ratios: Object.assign({}, ...all.map((each) => each.ratios)) as object,
    figures: Object.assign({}, ...all.map((each) => each.figures)) as object,
    machine: all.findLast((each) => each.machine !== undefined)?.machine ?? readMachine(),
  };
}

async function measureStore(): Promise<Part> {
  const { records } = sizes;
  const ledger = await filledLedger(records);
  try {
    const alone = await measureAlone(ledger);
    // SQLite has one writer at a time.
    await ledger.store.close();
    const { moments, peakMiB } = await measureMemory(ledger);
    return {
      ratios: {
        ...alone.ratios,
        full_ledger_own_mib: moments['idle']?.ownMiB,
        full_ledger_peak_mib: peakMiB,
      },
      figures: { records, ...alone.figures, memory: moments },
    };
  } finally {
    await ledger.remove();
  }
}

/** What the component takes with the database of a full ledger. */
async function measureMemory({ path }: FilledLedger): Promise<FullLedger> {
  const bench = await startBenchCluster(console.log);
  try {
    await applyLedger(bench.cluster);
    const { recorded: requests } = sizes;
    return await measureFull(bench, { directory: dirname(path), requests });
  } finally {
    await bench.stop();
  }
}

/** What the store takes in this process. */
async function measureAlone(ledger: FilledLedger): Promise<Part> {
  const { records, searches, rounds, batch, batches } = sizes;
  const appends = await measureAppends(ledger, { batch, batches });
  const search = await measureSearches(ledger, { records, searches });
  const { verifiedPerSecond, ...checked } = await measureVerify(ledger, rounds);
  const slowest = Math.max(...Object.values(search).map(({ p95Ms }) => p95Ms));
  return {
    ratios: { search_p95_ms: slowest, verified_per_second: verifiedPerSecond },
    figures: {
      searches,
      batch,
      ...checked,
      appendedPerSecond: appends.perSecond,
      calls: { append: appends.batches, ...search },
    },
  };
}

async function measureRecording(): Promise<Part> {
  const { requests, rounds, load, seconds } = sizes;
  const bench = await startBenchCluster(console.log);
  try {
    await using server = await startPostgres();
    await applyLedger(bench.cluster);
    const withArm = armsOn(bench, server);
    const drains = await measureDrains(bench, withArm, { requests, rounds });
    const steady = { perSecond: load, seconds, rounds };
    const latencies = await measureLatencies(bench, withArm, steady);
    const turns = [...drains.values(), ...latencies.values()].flat();
    const disturbed = turns.filter(isDisturbed);
    // Where nobody ever had the cores, a ratio says who got one: another process more gets more of
    // them.
    const said = (ratio: number): number | null => (disturbed.length < turns.length ? ratio : null);
    return {
      ratios: {
        drain_with_ledger_vs_without: said(drainRatio(drains, 'sqlite')),
        drain_with_postgres_vs_without: said(drainRatio(drains, 'postgres')),
        p99_added_ms: said(addedMs(latencies, 'sqlite')),
        p99_added_with_postgres_ms: said(addedMs(latencies, 'postgres')),
      },
      figures: {
        requests,
        load,
        seconds,
        rounds,
        disturbed: disturbed.length,
        drain: tableOf(drains),
        latency: tableOf(latencies),
      },
      machine: readMachine(bench.kubernetes),
    };
  } finally {
    await bench.stop();
  }
}

function tableOf<T extends object>(measured: ReadonlyMap<string, readonly T[]>): object {
  return Object.fromEntries([...measured].map(([name, all]) => [name, medians(all)]));
}
