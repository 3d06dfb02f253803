// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALERT_RULES } from '#install/monitoring/alert-rules.ts';
import { grafanaDashboard } from '#install/monitoring/dashboards.ts';
import { OPTIONAL_COMPONENTS } from '#install/monitoring/optional-panels.ts';
import { OVERVIEW } from '#install/monitoring/panels.ts';
import { everySeries } from '../support/component/exposed-metrics.ts';

const DASHBOARDS = [OVERVIEW, OPTIONAL_COMPONENTS];

/** What a scrape adds, and what a histogram has. */
const ADDED = ['component', 'namespace', 'instance', 'le'];
const SERIES = /\b(?:countersign|workqueue|rest_client|nodejs|process)_\w+/g;

interface GrafanaPanel {
  readonly id: number;
  readonly type: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
}

for (const { title, rows } of DASHBOARDS) {
  for (const panel of rows.flatMap(({ panels }) => panels)) {
    test(`${title}, ${panel.title}: it asks for series and labels that there are`, () => {
      const known = everySeries();
      for (const [legend, expr] of Object.entries(panel.queries)) {
        const names = expr.match(SERIES) ?? [];
        assert.ok(names.length > 0, expr);
        const labels = names.flatMap(
          (name) => known.get(name.replace(/_bucket$/, '')) ?? assert.fail(`no series ${name}`),
        );
        const kept = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
          list.split(', '),
        );
        for (const label of kept) assert.ok([...labels, ...ADDED].includes(label), label);
        for (const [, label = ''] of legend.matchAll(/\{\{(\w+)\}\}/g))
          assert.ok(kept.includes(label), `${legend}: the query does not keep ${label}`);
      }
    });
  }
}

test('panels do not overlap, stay on the grid and have ids of their own', () => {
  for (const dashboard of DASHBOARDS) {
    const { panels } = grafanaDashboard(dashboard) as { readonly panels: readonly GrafanaPanel[] };
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    assert.equal(new Set(cells).size, cells.length);
    assert.ok(panels.every(({ gridPos: { x, w } }) => x + w <= 24));
  }
});

test('what an alert asks for is on a dashboard', () => {
  const shown = DASHBOARDS.flatMap(({ rows }) => rows)
    .flatMap(({ panels }) => panels)
    .flatMap(({ queries }) => Object.values(queries))
    .flatMap((expr) => expr.match(SERIES) ?? []);
  const asked = ALERT_RULES.flatMap(({ expr }) => String(expr).match(SERIES) ?? []);
  assert.ok(asked.length > 0);
  for (const name of asked) assert.ok(shown.includes(name), name);
});
