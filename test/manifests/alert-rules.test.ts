// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALERT_RULES } from '../../src/manifests/workloads/alert-rules.ts';
import { createMetrics } from '../../src/web/metrics.ts';
import { createLeaderMetrics, createShareMetrics } from '../../src/web/replica-metrics.ts';

/** Series by name, with their labels, as a component exposes them. */
function series(): ReadonlyMap<string, readonly string[]> {
  const shared = createMetrics('approver', '0').registry;
  createShareMetrics(shared);
  const leading = createMetrics('authority', '0').registry;
  createLeaderMetrics(leading);
  const found = [...shared.getMetricsAsArray(), ...leading.getMetricsAsArray()].map((metric) => {
    const { name, labelNames = [] } = metric as unknown as { name: string; labelNames?: string[] };
    return [name, labelNames] as const;
  });
  return new Map(found);
}

for (const { alert, expr, annotations } of ALERT_RULES) {
  test(`${String(alert)} asks for series that there are, and tells by their labels`, () => {
    const known = series();
    const names = String(expr).match(/\b(?:countersign|workqueue)_\w+/g) ?? [];
    assert.ok(names.length > 0);
    const labels = names.flatMap((name) => known.get(name) ?? assert.fail(`no series ${name}`));
    const { summary } = annotations as { summary: string };
    for (const [, label = ''] of summary.matchAll(/\$labels\.(\w+)/g))
      // `component` is on every series; a scrape adds `namespace`.
      assert.ok([...labels, 'component', 'namespace'].includes(label), label);
  });
}
