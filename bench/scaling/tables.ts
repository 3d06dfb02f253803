// SPDX-License-Identifier: Apache-2.0
import { MEASURED, WITH_FEATURES } from './costs.ts';
import { acmeOfADay, demand, memory, MILLION, recordsOfADay } from './large.ts';
import { drain, killed, outage, renewals, type Fleet } from './scenarios.ts';

const REPLICAS = [1, 2, 3, 4, 8, 16];
const API_CORES = [2, 4, 8, 16];

/** Every table of docs/explanation/scaling.md, by the name of its place there. */
export function tables(): ReadonlyMap<string, string> {
  return new Map([
    ['costs', costsTable()],
    ['replicas', replicasTable()],
    ['shards', shardsTable()],
    ['clusters', clustersTable()],
    ['killed', killedTable()],
    ['features', featuresTable()],
    ['million', millionTable()],
    ['memory', memoryTable()],
    ['records', recordsTable()],
    ['acme', acmeTable()],
  ]);
}

function costsTable(): string {
  const { issue, write, store, tell, hear } = MEASURED;
  const rows = [
    ['a replica decides, signs, writes', round(issue)],
    ['the API server admits and stores a status', round(write)],
    ['etcd stores it, one after another', round(store)],
    ['the API server sends one watch event (estimated)', round(tell)],
    ["a replica reads an event that is another's (est.)", round(hear)],
  ];
  return table(['what', 'cost'], rows);
}

function featuresTable(): string {
  const rows = [...WITH_FEATURES].map(([name, costs]) => {
    const ends = [4, 16].map((apiCores) => {
      const { perSecond, busiest } = drain({ apiCores, shards: 1, replicas: 2 }, costs);
      return `${round(perSecond)} (${busiest.name})`;
    });
    const { issue, record, write, store } = costs;
    return [name, ...[issue, record, write, store].map(orNothing), ...ends];
  });
  const costs = ['replica, µs', 'ledger, µs', 'API server, µs', 'etcd, µs'];
  return table(['with', ...costs, '4 cores', '16 cores'], rows);
}

function millionTable(): string {
  const rows = [...WITH_FEATURES].map(([name, costs]) => {
    const { certificates, ours, ledger, apiServer, etcd, etcdWrites, ourCalls } = demand(
      MILLION,
      costs,
    );
    const { perSecond } = drain({ apiCores: 4, shards: 1, replicas: 2 }, costs);
    return [
      name,
      round(certificates),
      ...[ours, ledger, apiServer, etcd].map((cores) => (cores === 0 ? '' : cores.toFixed(2))),
      round(etcdWrites),
      round(ourCalls),
      `${outage(MILLION, perSecond).minutes.toFixed(1)} min`,
    ];
  });
  const cores = ['Countersign, cores', 'ledger, cores', 'API servers, cores', 'etcd, cores'];
  const rates = ['etcd writes/s', 'our calls/s'];
  return table(['with', 'certificates/s', ...cores, ...rates, 'after 12 h'], rows);
}

function memoryTable(): string {
  const rows = [1_000, 10_000, MILLION.podsEach].map((podsEach) => {
    const { atRest, remembered } = memory({ ...MILLION, podsEach });
    return [round(podsEach), `${round(atRest)} MiB`, `${round(remembered)} MiB`];
  });
  return table(['pods of a cluster', 'twelve processes at rest', 'certificates remembered'], rows);
}

function recordsTable(): string {
  const rows = [24, 12, 1].map((leafHours) => {
    const { records, bytes } = recordsOfADay({ ...MILLION, leafHours });
    const gigabytes = (days: number): string => `${round((bytes * days) / 1e9)} GB`;
    return [`${leafHours} h`, round(records), ...[1, 7, 90].map(gigabytes)];
  });
  return table(['leaf', 'records a day', 'a day', '7 days', '90 days'], rows);
}

function acmeTable(): string {
  const rows = [1_000, 10_000, 100_000].map((certificates) => {
    const { orders, calls, writes, ourSeconds, apiServerSeconds, allAtOnceMinutes } =
      acmeOfADay(certificates);
    const counted = [orders, calls, writes, ourSeconds, apiServerSeconds].map(round);
    return [round(certificates), ...counted, `${round(allAtOnceMinutes)} min`];
  });
  const cpu = ['acme and acme-solver, CPU s', 'API server, CPU s'];
  return table(
    ['certificates', 'orders a day', 'ACME calls', 'API writes', ...cpu, 'all at once'],
    rows,
  );
}

function replicasTable(): string {
  const rows = REPLICAS.map((replicas) => [
    `${replicas}`,
    ...API_CORES.map((apiCores) => {
      const { perSecond, busiest } = drain({ apiCores, shards: 1, replicas });
      return `${round(perSecond)} (${busiest.name})`;
    }),
  ]);
  return table(['replicas', ...API_CORES.map((cores) => `API server of ${cores} cores`)], rows);
}

function shardsTable(): string {
  const shapes = [
    [1, 16],
    [2, 8],
    [4, 4],
    [8, 2],
    [16, 1],
  ] as const;
  const rows = shapes.map(([shards, replicas]) => [
    `${shards}`,
    `${replicas}`,
    `${3 * replicas}`,
    ...[4, 16].map((apiCores) => {
      const { perSecond, busiest } = drain({ apiCores, shards, replicas });
      return `${round(perSecond)} (${busiest.name})`;
    }),
  ]);
  return table(
    ['shards', 'replicas each', 'events sent a certificate', '4 cores', '16 cores'],
    rows,
  );
}

function clustersTable(): string {
  const { perSecond } = drain({ apiCores: 4, shards: 1, replicas: 2 });
  const fleets: readonly Fleet[] = [
    { clusters: 1, podsEach: 5_000, leafHours: 24, refreshPercent: 50 },
    { clusters: 1, podsEach: 150_000, leafHours: 24, refreshPercent: 50 },
    { clusters: 1, podsEach: 150_000, leafHours: 1, refreshPercent: 50 },
    { clusters: 16, podsEach: 150_000, leafHours: 24, refreshPercent: 50 },
    { clusters: 64, podsEach: 150_000, leafHours: 1, refreshPercent: 50 },
  ];
  const rows = fleets.map((fleet) => {
    const { hours, overdue, minutes } = outage(fleet, perSecond);
    return [
      `${fleet.clusters}`,
      round(fleet.podsEach),
      `${fleet.leafHours} h`,
      `${round(renewals(fleet))} / ${round(renewals(fleet) * fleet.clusters)}`,
      round(perSecond * fleet.clusters),
      `${hours} h`,
      `${round(overdue)} in ${minutes.toFixed(1)} min`,
    ];
  });
  return table(
    [
      'clusters',
      'pods each',
      'leaf',
      'renewals/s each / all',
      'capacity/s',
      'longest outage',
      'renewed after it, each',
    ],
    rows,
  );
}

function killedTable(): string {
  const rows = [2, 3, 5].flatMap((replicas) =>
    [5, 15, 60].map((lease) => {
      const { affected, mean, most } = killed(replicas, lease);
      return [
        `${replicas}`,
        `${lease} s`,
        `${(affected * 100).toFixed(0)} %`,
        `${mean.toFixed(1)} s`,
        `${most.toFixed(1)} s`,
      ];
    }),
  );
  return table(['replicas', 'Lease', 'requests that wait', 'mean', 'most'], rows);
}

function orNothing(value: number): string {
  return value === 0 ? '' : round(value);
}

/** Two digits: a model knows no more. */
function round(value: number): string {
  if (value < 10) return value.toFixed(1);
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(value, 1))) - 1);
  return (Math.round(value / step) * step).toLocaleString('en');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_text, column) =>
    Math.max(...all.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((text, column) => text[column === 0 ? 'padEnd' : 'padStart'](widths[column] ?? 0)).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(head), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n');
}
