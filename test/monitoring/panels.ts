// SPDX-License-Identifier: Apache-2.0
/** What the panels of a dashboard show of a real run. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Dashboard, Panel } from '#install/monitoring/panels.ts';
import { until } from '../cluster/until.ts';
import { drawDashboard, type Shown } from './pictures.ts';
import type { Prometheus } from './prometheus.ts';

export const PATIENCE = 120_000;
/** Where the pictures go. Those of the docs are of three minutes of work. */
const { PICTURES } = process.env;
const DIRECTORY = PICTURES ?? join(import.meta.dirname, '../../.cache/dashboards');
const WORK_MS = PICTURES === undefined ? 0 : 180_000;

/** A person's certificate has an owner without one. */
const NOT_OF_PEOPLE = 'owner_namespace';

/** A run, once it has begun. */
export interface Watched {
  readonly prometheus: Prometheus;
  /** Milliseconds since 1970. */
  readonly began: number;
}

/** Grafana puts in four scrape intervals at least. */
const inGrafana = (expr: string): string => expr.replaceAll('$__rate_interval', '15s');

/**
 * A test for each panel, and one that draws them.
 *
 * @param mayBeEmpty - titles of panels, and legends of queries, without a series where all is well
 */
export function testDashboard(
  dashboard: Dashboard,
  mayBeEmpty: ReadonlySet<string>,
  watched: () => Watched,
): void {
  for (const { title: row, panels } of dashboard.rows) {
    for (const panel of panels) {
      test(`${row}, ${panel.title}: it shows something, and each series has its labels`, async () => {
        await shows(watched().prometheus, panel, mayBeEmpty);
      });
    }
  }
  test(`${dashboard.title} is drawn`, async () => {
    const { prometheus, began } = watched();
    await delay(Math.max(0, began + WORK_MS - Date.now()));
    const empty: string[] = [];
    const svg = await drawDashboard(dashboard, async (panel) => {
      const shown = await shownBy(prometheus, panel, (Date.now() - began) / 1000);
      if (shown.length === 0) empty.push(panel.title);
      return shown;
    });
    mkdirSync(DIRECTORY, { recursive: true });
    writeFileSync(join(DIRECTORY, `dashboard-${dashboard.name}.svg`), svg);
    assert.deepEqual(
      empty.filter((each) => !mayBeEmpty.has(each)),
      [],
    );
  });
}

async function shows(
  prometheus: Prometheus,
  { title, queries }: Panel,
  mayBeEmpty: ReadonlySet<string>,
): Promise<void> {
  for (const [legend, expr] of Object.entries(queries)) {
    const something = !mayBeEmpty.has(title) && !mayBeEmpty.has(legend);
    const found = await until(`${expr} finds something`, PATIENCE, async () => {
      const samples = await prometheus.query(inGrafana(expr));
      return samples.length > 0 || !something ? samples : undefined;
    });
    for (const { metric, value } of found) {
      assert.ok(!Number.isNaN(value) || expr.startsWith('histogram_quantile'), expr);
      for (const [, label = ''] of legend.matchAll(/\{\{(\w+)\}\}/g))
        assert.ok(
          label === NOT_OF_PEOPLE || (metric[label] ?? '') !== '',
          `${expr}: no ${label} in ${JSON.stringify(metric)}`,
        );
    }
  }
}

async function shownBy(
  prometheus: Prometheus,
  { queries }: Panel,
  seconds: number,
): Promise<readonly Shown[]> {
  const shown: Shown[] = [];
  for (const [legend, expr] of Object.entries(queries)) {
    for (const { metric, points } of await prometheus.range(inGrafana(expr), seconds)) {
      const named = legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '');
      shown.push({ legend: named, points });
    }
  }
  return shown;
}
