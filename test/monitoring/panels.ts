// SPDX-License-Identifier: Apache-2.0
/** What the panels of a dashboard, and the queries of the alerts, find in a real run. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ALERT_RULES } from '#install/monitoring/alert-rules.ts';
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

/** Series of CAs that others hold, which authorities-run.ts shows. */
export const OF_AUTHORITIES = /\bcountersign_(?:ca_certificate|key_holder|external)_/;
/** Series of alerts that optional-run.ts shows. */
export const OF_OPTIONAL = /^countersign_(?:acme|refresh)_/;

/** Returns a dashboard with only the panels that authorities-run.ts shows, or only the others. */
export function panelsOf(dashboard: Dashboard, which: 'of authorities' | 'others'): Dashboard {
  const isWanted = ({ queries }: Panel): boolean =>
    Object.values(queries).some((expr) => OF_AUTHORITIES.test(expr)) ===
    (which === 'of authorities');
  const rows = dashboard.rows.map(({ title, panels }) => ({
    title,
    panels: panels.filter(isWanted),
  }));
  return { ...dashboard, rows: rows.filter(({ panels }) => panels.length > 0) };
}

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

/** A test of the series of alerts that a run shows: Prometheus takes each alert, and finds them. */
export function testAlertSeries(
  isShown: (series: string) => boolean,
  watched: () => Pick<Watched, 'prometheus'>,
): void {
  test('Prometheus takes each alert, and each finds the series that it asks for', async () => {
    const { prometheus } = watched();
    for (const { alert, expr } of ALERT_RULES) {
      await prometheus.query(String(expr));
      const series = new Set(String(expr).match(/\b(?:countersign|nodejs)_\w+/g));
      for (const name of [...series].filter(isShown)) {
        await until(`${String(alert)} finds ${name}`, PATIENCE, async () => {
          return (await prometheus.query(`count(${name})`)).length > 0;
        });
      }
    }
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
