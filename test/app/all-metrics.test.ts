// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentMetrics } from '#app/all-metrics.ts';
import type { GaugeSeries, SeriesTable } from '#component/metric.ts';
import { createMetrics, type Metrics } from '#component/web/metric-registry.ts';
import { REQUEST_SERIES } from '#requests/loop/metrics.ts';
import { POD_SERIES, countOutdatedNames } from '#requests/pcr-issuer/metrics.ts';
import { BUNDLE_SERIES } from '#trust/attester/metrics.ts';
import { AUTHORITY_SERIES } from '#trust/authority/metrics.ts';

interface Value {
  readonly labels: Readonly<Record<string, unknown>>;
  readonly value: unknown;
}

async function valuesOf({ registry }: Metrics, series: string): Promise<readonly Value[]> {
  const found = (await registry.getMetricsAsJSON()).find(({ name }) => name === series);
  return found?.values ?? [];
}

function gaugeOf(series: object | undefined): GaugeSeries {
  assert.ok(series !== undefined && 'set' in series);
  return series as GaugeSeries;
}

test('removes the gauges of an unserved signer name, and keeps those of others', async () => {
  const metrics = createMetrics('signer', '1');
  const told = componentMetrics(metrics, 'signer');
  const tables = [REQUEST_SERIES, BUNDLE_SERIES, AUTHORITY_SERIES, POD_SERIES];
  const ending = tables.flatMap((table: SeriesTable) =>
    Object.entries(table).flatMap(([key, each]) =>
      each.endsWithSigner === true ? [{ ...each, gauge: gaugeOf(told.of(table)[key]) }] : [],
    ),
  );
  assert.equal(ending.length, 15);
  for (const signer of ['example.com/a', 'example.com/b']) {
    for (const { gauge, labels } of ending) {
      for (const other of ['one', 'two'])
        gauge.set({ ...Object.fromEntries(labels.map((label) => [label, other])), signer }, 1);
    }
  }
  told.unserved('example.com/a');
  const text = await metrics.registry.metrics();
  assert.ok(!text.includes('example.com/a'));
  const twice = ending.filter(({ labels }) => labels.length > 1).length;
  assert.equal(text.split('example.com/b').length - 1, ending.length + twice);
});

test('a live watch hides no dead one of its collection; a stopped one is removed', async () => {
  const metrics = createMetrics('signer', '1');
  const told = componentMetrics(metrics, 'signer');
  const resource = '/apis/certificates.k8s.io/v1/podcertificaterequests';
  const [dead, live] = ['spec.signerName=example.com/dead', 'spec.signerName=example.com/live'];
  told.watchEvent({ resource, selector: dead }, 1_000);
  told.watchEvent({ resource, selector: live }, 1_000);
  told.watchEvent({ resource, selector: live }, 2_000);
  const lastHeard = async (): Promise<readonly unknown[]> => {
    const values = await valuesOf(metrics, 'countersign_watch_last_event_timestamp_seconds');
    return values.map(({ labels, value }) => [labels['selector'], value]);
  };
  assert.deepEqual(await lastHeard(), [
    [dead, 1_000],
    [live, 2_000],
  ]);
  told.watchStopped({ resource, selector: dead });
  assert.deepEqual(await lastHeard(), [[live, 2_000]]);
});

test('counts a signer’s outdated names by the ledger or since the start, never by both', async () => {
  const metrics = createMetrics('pcr-issuer', '1');
  const told = componentMetrics(metrics, 'pcr-issuer');
  const counted = async (): Promise<readonly unknown[]> => {
    const values = await valuesOf(metrics, 'countersign_pod_names_outdated');
    return values.map(({ labels, value }) => [labels['signer'], labels['since'], value]);
  };
  countOutdatedNames(told, 'example.com/a', { leaves: 2, since: 'start' });
  countOutdatedNames(told, 'example.com/b', { leaves: 1, since: 'start' });
  countOutdatedNames(told, 'example.com/a', { leaves: 3, since: 'ledger' });
  assert.deepEqual(await counted(), [
    ['example.com/b', 'start', 1],
    ['example.com/a', 'ledger', 3],
  ]);
  countOutdatedNames(told, 'example.com/a', { leaves: 2, since: 'start' });
  assert.deepEqual(await counted(), [
    ['example.com/b', 'start', 1],
    ['example.com/a', 'start', 2],
  ]);
  told.unserved('example.com/a');
  assert.deepEqual(await counted(), [['example.com/b', 'start', 1]]);
});
