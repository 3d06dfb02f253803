// SPDX-License-Identifier: Apache-2.0
/** Grafana's JSON model of the dashboards (schema version 39: Grafana 10.4 and later). */
import type { Dashboard, Panel } from './panels.ts';

const SCHEMA_VERSION = 39;
const GRID_WIDTH = 24;
/** Panels per row, by kind. Bars have long names. */
const IN_A_LINE = { stat: 6, bargauge: 3, timeseries: 2 };
const HEIGHTS = { stat: 4, timeseries: 8, bargauge: 8 };

/** Data source that the user selects in Grafana. The default is the first Prometheus. */
const DATA_SOURCE = { type: 'prometheus', uid: '${datasource}' };

interface Place {
  readonly h: number;
  readonly w: number;
  readonly x: number;
  readonly y: number;
}

/** Returns a dashboard as Grafana imports it, and as its sidecar reads it from a ConfigMap. */
export function grafanaDashboard({ name, title, rows }: Dashboard): object {
  const panels: object[] = [];
  let y = 0;
  for (const row of rows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: { h: 1, w: GRID_WIDTH, x: 0, y },
    });
    y += 1;
    let x = 0;
    let height = 0;
    for (const panel of inOrder(row.panels)) {
      const w = widthOf(panel, row.panels);
      // A panel of another height starts a new row.
      const fits = x + w <= GRID_WIDTH && (x === 0 || height === heightOf(panel));
      if (!fits) [x, y, height] = [0, y + height, 0];
      const h = heightOf(panel);
      panels.push(grafanaPanel(panel, panels.length + 1, { h, w, x, y }));
      x += w;
      height = Math.max(height, h);
    }
    y += height;
  }
  return {
    uid: `countersign-${name}`,
    title,
    tags: ['countersign'],
    schemaVersion: SCHEMA_VERSION,
    editable: true,
    refresh: '30s',
    timezone: 'browser',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }],
    },
    panels,
  };
}

/** Sorts by kind, low panels first. The sort is stable. */
function inOrder(panels: readonly Panel[]): readonly Panel[] {
  const kinds = Object.keys(IN_A_LINE);
  return panels.toSorted((a, b) => kinds.indexOf(kindOf(a)) - kinds.indexOf(kindOf(b)));
}

function kindOf({ kind = 'timeseries' }: Panel): keyof typeof HEIGHTS {
  return kind;
}

function heightOf(panel: Panel): number {
  return HEIGHTS[kindOf(panel)];
}

function widthOf(panel: Panel, all: readonly Panel[]): number {
  const kind = kindOf(panel);
  const alike = all.filter((each) => kindOf(each) === kind).length;
  return Math.floor(GRID_WIDTH / Math.min(IN_A_LINE[kind], Math.max(alike, 2)));
}

function grafanaPanel(panel: Panel, id: number, gridPos: Place): object {
  const { title, description, unit = 'short', queries } = panel;
  const kind = kindOf(panel);
  const instant = kind !== 'timeseries';
  return {
    id,
    type: kind,
    title,
    description,
    gridPos,
    datasource: DATA_SOURCE,
    targets: Object.entries(queries).map((query, index) => target(query, index, instant)),
    fieldConfig: {
      defaults: { unit, min: kind === 'bargauge' ? 0 : null, ...colors(panel) },
      overrides: [],
    },
    options:
      kind === 'timeseries'
        ? { legend: { displayMode: 'table', calcs: ['lastNotNull'] } }
        : { reduceOptions: { calcs: ['lastNotNull'] } },
  };
}

function target(
  [legend, expr]: readonly [string, string],
  index: number,
  instant: boolean,
): object {
  const refId = String.fromCharCode('A'.charCodeAt(0) + index);
  return { refId, expr, legendFormat: legend, instant, range: !instant, datasource: DATA_SOURCE };
}

/** Returns Grafana's thresholds. The first step has no value, and applies below the second. */
function colors({ red }: Panel): object {
  if (red === undefined) return {};
  const steps =
    typeof red === 'number'
      ? [
          { color: 'green', value: null },
          { color: 'red', value: red },
        ]
      : [
          { color: 'red', value: null },
          { color: 'green', value: red.below },
        ];
  return { color: { mode: 'thresholds' }, thresholds: { mode: 'absolute', steps } };
}
