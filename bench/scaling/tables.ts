// SPDX-License-Identifier: Apache-2.0
import { drain, killed, outage, renewals, type Fleet } from './scenarios.ts';

const REPLICAS = [1, 2, 3, 4, 8, 16];
const API_CORES = [2, 4, 8, 16];

/** Every table of docs/explanation/scaling.md, by the name of its place there. */
export function tables(): ReadonlyMap<string, string> {
  return new Map([
    ['replicas', replicasTable()],
    ['shards', shardsTable()],
    ['clusters', clustersTable()],
    ['killed', killedTable()],
  ]);
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
