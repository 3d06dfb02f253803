// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALERT_RULES } from '#install/monitoring/alert-rules.ts';
import { ALERT_CASES } from '../monitoring/alert-cases.ts';
import { everySeries } from '../support/component/exposed-metrics.ts';

for (const { alert, expr, annotations } of ALERT_RULES) {
  test(`${String(alert)} asks for series that there are, and tells by their labels`, () => {
    const known = everySeries();
    const names = String(expr).match(/\b(?:countersign|workqueue|nodejs)_\w+/g) ?? [];
    // kube-apiserver says whether it reaches an aggregated API.
    assert.ok(names.length > 0 || String(expr).includes('aggregator_unavailable_apiservice'));
    const labels = names.flatMap((name) => known.get(name) ?? assert.fail(`no series ${name}`));
    const { summary } = annotations as { summary: string };
    for (const [, label = ''] of summary.matchAll(/\$labels\.(\w+)/g))
      // `component` is on every series; a scrape adds `namespace`.
      assert.ok([...labels, 'component', 'namespace'].includes(label), label);
  });
}

test("a change of the leader restarts no alert: none has the leader's instance", () => {
  const leader = 'unless on (namespace, component, instance) countersign_leader == 0';
  const found = ALERT_RULES.filter(({ expr }) => String(expr).includes(leader));
  assert.ok(found.length > 10);
  for (const { alert, expr } of found) {
    const [, labels = 'instance'] =
      /(?:min|max) by \(([a-z_, ]+)\) \(\(\w+/.exec(String(expr)) ?? [];
    assert.ok(!labels.split(', ').includes('instance'), String(alert));
  }
});

test('each alert has one section in Answer an alert and one row in Scrape metrics', () => {
  const page = (name: string): string =>
    readFileSync(new URL(`../../docs/how-to/${name}.md`, import.meta.url), 'utf8');
  const alerts = ALERT_RULES.map(({ alert }) => String(alert)).sort();
  const sections = [...page('answer-an-alert').matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  const rows = [...page('metrics-over-tls').matchAll(/^\| `(Countersign\w+)`/gm)];
  assert.deepEqual(sections.toSorted(), alerts);
  assert.deepEqual(rows.map(([, name]) => name).toSorted(), alerts);
});

test('each alert has its case for promtool (make test-monitoring), and none has more', () => {
  const alerts = ALERT_RULES.map(({ alert }) => String(alert));
  assert.deepEqual(Object.keys(ALERT_CASES).sort(), alerts.sort());
});

test('each case states the value that the summary of its alert shows', () => {
  for (const { alert, annotations } of ALERT_RULES) {
    const { summary } = annotations as { summary: string };
    const { said } = ALERT_CASES[String(alert)]?.fires ?? {};
    assert.equal(said !== undefined, summary.includes('$value'), String(alert));
  }
});
