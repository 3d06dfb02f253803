// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { SERIES } from '#app/all-metrics.ts';
import { limitedCounter } from '#component/metric.ts';
import { createMetrics } from '#component/web/metric-registry.ts';
import { PROCESS_SERIES } from '#component/web/process-metrics.ts';
import { until } from '../../cluster/until.ts';

/** Of the series of our own, and of client-go's workqueue, which existing dashboards know. */
const NAMES = [
  'countersign_admission_policy_differences',
  'countersign_build_info',
  'countersign_ca_full_leaves_until_timestamp_seconds',
  'countersign_ca_not_after_timestamp_seconds',
  'countersign_ca_rotation_phase',
  'countersign_clock_offset_seconds',
  'countersign_credentials_changes_total',
  'countersign_events_dropped_total',
  'countersign_in_flight_limit',
  'countersign_missing_permissions',
  'countersign_request_duration_seconds',
  'countersign_request_pending',
  'countersign_requests_total',
  'countersign_trust_bundle_certificates',
  'countersign_trust_bundle_foreign',
  'countersign_trust_bundle_not_after_timestamp_seconds',
  'countersign_trust_bundle_published_timestamp_seconds',
  'countersign_watch_last_event_timestamp_seconds',
  'countersign_watch_restarts_total',
  'rest_client_requests_total',
  'workqueue_adds_total',
  'workqueue_depth',
  'workqueue_longest_running_processor_seconds',
  'workqueue_queue_duration_seconds',
  'workqueue_retries_total',
  'workqueue_unfinished_work_seconds',
  'workqueue_work_duration_seconds',
];

test('metric names are those that dashboards and alerts use', async () => {
  const { registry } = createMetrics('signer', '1', SERIES);
  const found = await registry.getMetricsAsJSON();
  const names = found
    .map(({ name }) => name)
    .filter((name) => /^(countersign|workqueue|rest_client)_/.test(name));
  for (const name of NAMES) assert.ok(names.includes(name), `${name} is missing`);
});

test('the lag of the event loop is sampled ten times a second, not a hundred times', async () => {
  const { registry } = createMetrics('signer', '1');
  // Each reading begins again.
  const least = await until('a sample', 60_000, async () => {
    await delay(250);
    await registry.metrics();
    const text = await registry.getSingleMetricAsString('nodejs_eventloop_lag_min_seconds');
    const value = Number(/} (\S+)/.exec(text)?.[1]);
    return value < 60 && value;
  });
  assert.ok(least > 0.05, `${least} s`);
});

// The rules of `promtool check metrics`, which is not on every machine.
test('only counters end in _total, and every series has a help text', async () => {
  const { registry } = createMetrics('signer', '1', SERIES);
  for (const { name, help, type } of await registry.getMetricsAsJSON()) {
    if (!/^(countersign|workqueue|rest_client)_/.test(name)) continue;
    assert.ok(help.length > 10, name);
    assert.equal(name.endsWith('_total'), String(type) === 'counter', name);
    assert.doesNotMatch(name, /_(milliseconds|ms|counter|gauge|histogram)(_|$)/);
  }
});

test('values that need a lookup are refreshed before a scrape', async () => {
  const metrics = createMetrics('signer', '1');
  const { queueLongest, queueUnfinished } = metrics.of(PROCESS_SERIES);
  let seconds = 0;
  metrics.onScrape(() => {
    queueLongest.set({ name: 'q' }, seconds);
    queueUnfinished.set({ name: 'q' }, seconds * 2);
  });
  seconds = 7;
  const text = await metrics.registry.metrics();
  assert.match(text, /^workqueue_longest_running_processor_seconds\{name="q".*\} 7$/m);
  assert.match(text, /^workqueue_unfinished_work_seconds\{name="q".*\} 14$/m);
});

test('two components in one process have separate series', async () => {
  const [one, two] = ['signer', 'approver'].map((name) => createMetrics(name, '1', SERIES));
  assert.ok(one !== undefined && two !== undefined);
  one.of(PROCESS_SERIES).missingPermissions.set({}, 3);
  assert.match(
    await one.registry.metrics(),
    /^countersign_missing_permissions\{component="signer"\} 3$/m,
  );
  assert.match(
    await two.registry.metrics(),
    /^countersign_missing_permissions\{component="approver"\} 0$/m,
  );
});

test('each name is declared once', () => {
  const declared = new Set(SERIES.flatMap((table) => Object.values(table)));
  const names = [...declared].map(({ name }) => name);
  assert.deepEqual(names.toSorted(), [...new Set(names)].toSorted());
});

test('labels that clients choose have a series each up to a limit, and share one after', async () => {
  const { of, registry } = createMetrics('attester', '1');
  const limited = { label: 'anchor', to: 2 } as const;
  const table = { seen: limitedCounter('seen_total', 'Anchors seen.', ['anchor'], limited) };
  for (const anchor of ['a', 'b', 'c', 'd', 'a']) of(table).seen.inc({ anchor });
  const { values } = (await registry.getMetricsAsJSON()).find(
    ({ name }) => name === 'seen_total',
  ) ?? {
    values: [],
  };
  assert.deepEqual(
    values.map(({ labels, value }) => [labels.anchor, value]),
    [
      ['a', 2],
      ['b', 1],
      ['other', 2],
    ],
  );
});
