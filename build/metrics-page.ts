// SPDX-License-Identifier: Apache-2.0
/** Renders docs/reference/metrics.md from the tables of series that the descriptors name. */
import { join } from 'node:path';
import type { Series, SeriesTable } from '#component/metric.ts';
import { LEADER_SERIES, PROCESS_SERIES, SHARE_SERIES } from '#component/web/process-metrics.ts';
import { PROCESSES } from '#install/component-list.ts';
import { SENDER_SERIES } from '#ledger/sender/metrics.ts';

/** Path of the page. */
export const METRICS_PAGE = join(import.meta.dirname, '../docs/reference/metrics.md');

const HEAD = `# Metrics

Made by \`make metrics-docs\` from the \`metrics.ts\` of each component's folder. [Scrape metrics over TLS](../how-to/metrics-over-tls.md)
shows how to read them, and what to alert on.

Each series has the label \`component\` as well. A process exposes the series of all components. Those of the others have no value,
or 0. The \`process_*\` and \`nodejs_*\` series are those of prom-client. It samples the lag of
the event loop each 100 ms, and a sample includes this time: \`nodejs_eventloop_lag_min_seconds\`, the mean, the maximum and
the percentiles are about 0.1 at rest.
`;

const BUILD_INFO: Series = {
  type: 'gauge',
  name: 'countersign_build_info',
  help: 'Always 1; the label has the version that runs.',
  labels: ['version'],
};

/** Returns the Markdown of the page. */
export function renderMetrics(): string {
  const tables = new Set(PROCESSES.flatMap(({ series = [] }) => series));
  return [
    HEAD,
    sectionOf('Every process', { info: BUILD_INFO, ...PROCESS_SERIES }),
    sectionOf('Components that record in the ledger', SENDER_SERIES),
    sectionOf('Components whose replicas share the work', SHARE_SERIES),
    sectionOf('Components with one leading replica', LEADER_SERIES),
    ...[...tables].map((table) => sectionOf(countersOf(table), table)),
  ].join('\n');
}

/** Returns the names of the components that count the series of a table. */
function countersOf(table: SeriesTable): string {
  const counting = PROCESSES.filter(({ series = [] }) => series.includes(table));
  return counting.map(({ name }) => name).join(', ');
}

function sectionOf(title: string, table: SeriesTable): string {
  const rows = Object.values(table).map(
    ({ type, name, help, labels }) =>
      `| \`${name}\` | ${type} | ${labels.map((each) => `\`${each}\``).join(', ')} | ${help.replaceAll('<', '&lt;')} |`,
  );
  return [
    `## ${title}\n`,
    '| series | type | labels | what it says |',
    '| - | - | - | - |',
    ...rows,
  ]
    .join('\n')
    .concat('\n');
}
