// SPDX-License-Identifier: Apache-2.0
/** Each alert as Prometheus evaluates it: promtool's unit tests. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { ALERT_RULES } from '#install/monitoring/alert-rules.ts';
import { ALERT_CASES, type AlertCase } from './alert-cases.ts';
import { buildPromtool } from './tools/build.ts';

const run = promisify(execFile);
let promtool: string;
let directory: string;
let rules: string;

before(async () => {
  promtool = await buildPromtool((line) => {
    console.error(line);
  });
  directory = mkdtempSync(join(tmpdir(), 'countersign-alerts-'));
  rules = join(directory, 'rules.yaml');
  writeFileSync(rules, stringify({ groups: [{ name: 'countersign', rules: ALERT_RULES }] }));
});
after(() => {
  rmSync(directory, { recursive: true });
});

test('promtool takes the rules and finds nothing to say of them', async () => {
  const { stdout } = await run(promtool, ['check', 'rules', '--lint-fatal', rules]);
  assert.match(stdout, new RegExp(`SUCCESS: ${ALERT_RULES.length} rules found`));
});

for (const rule of ALERT_RULES) {
  const name = String(rule['alert']);
  const its = ALERT_CASES[name];
  if (its === undefined) continue;
  test(`${name} fires, with all that it names, waits before it does, and resolves`, async () => {
    const file = join(directory, `${name}.yaml`);
    writeFileSync(file, stringify(unitTest(rule, its)));
    await run(promtool, ['test', 'rules', file]);
  });
  test(`${name}: a test that expects it where it is quiet is red`, async () => {
    const file = join(directory, `${name}-red.yaml`);
    const [when = ''] = its.quiet;
    writeFileSync(file, stringify(unitTest(rule, { ...its, fires: { ...its.fires, at: when } })));
    await assert.rejects(run(promtool, ['test', 'rules', file]), /FAILED/);
  });
}

/** The value of an alert in a summary, which `said` states as it is written. */
const VALUE = /\{\{ \$value( \| \w+)? \}\}/;

/**
 * What promtool reads:
 * https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/
 */
function unitTest(rule: (typeof ALERT_RULES)[number], its: AlertCase): object {
  const { fires, quiet } = its;
  const { severity } = rule['labels'] as { readonly severity: string };
  const { summary } = rule['annotations'] as { readonly summary: string };
  const expected = {
    exp_labels: { severity, ...fires.labels },
    exp_annotations: {
      summary: summary
        .replace(VALUE, fires.said ?? '')
        .replace(
          /\{\{ \$labels\.(\w+) \}\}/g,
          (_, label: string) => fires.labels[label] ?? assert.fail(`no label ${label}`),
        ),
    },
  };
  const alertname = rule['alert'];
  return {
    rule_files: [rules],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: Object.entries({ ...its.series, ...replicas(its) }).map(([name, values]) => ({
          series: name,
          values,
        })),
        alert_rule_test: [
          { eval_time: fires.at, alertname, exp_alerts: [expected] },
          ...quiet.map((each) => ({ eval_time: each, alertname, exp_alerts: [] })),
        ],
      },
    ],
  };
}

/** The series of a former leader, and those that tell it from the leader. */
function replicas({ series, former }: AlertCase): AlertCase['series'] {
  if (former === undefined) return {};
  const [first = ''] = Object.keys(series);
  const leader = `countersign_leader{${first.match(/component=.*?:8443"/)?.[0] ?? ''}}`;
  const standby = (name: string): string => name.replace('10.0.0.1:', '10.0.0.2:');
  return { [standby(first)]: `${former}x400`, [leader]: '1x400', [standby(leader)]: '0x400' };
}
