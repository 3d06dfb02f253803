// SPDX-License-Identifier: Apache-2.0
/** Every query of the dashboards and the alerts, answered by a real Prometheus that scrapes components at work. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ALERT_RULES } from '../../src/manifests/monitoring/alert-rules.ts';
import { OPTIONAL_COMPONENTS } from '../../src/manifests/monitoring/optional-panels.ts';
import { OVERVIEW, type Panel } from '../../src/manifests/monitoring/panels.ts';
import { until } from '../cluster/until.ts';
import { LedgerStand } from '../integration/ledger/stand.ts';
import {
  startOtlpReceiver,
  type OtlpReceiver,
  type ReceivedSpan,
} from '../support/app/otlp-receiver.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { createPod, createTeam } from '../support/cluster/pods.ts';
import {
  allowRequesters,
  createCsr,
  waitForCertificate,
  waitForCondition,
} from '../support/cluster/requests/csr.ts';
import { waitForRequest } from '../support/cluster/requests/pod-certificate-request.ts';
import { tlsCertificate } from '../support/pki/tls-certificate.ts';
import { startPrometheus, type Prometheus } from './prometheus.ts';

const PATIENCE = 120_000;
/** Of other components, each of which needs a server of its own: `make test-acme` and `make test-refresher` run them. */
const NOT_HERE = ['ACME', 'Restarts on renewal'];
/** Of acme, which is not here; of CRLs, which no profile asks for; what begins with the first foreign anchor. */
const NEVER_HERE =
  /^countersign_(?:acme_|crl_failing|trust_bundle_stranger_anchors_total|renewal_refused_|ledger_checkpoint_[uc])/;
/** Right as they are, without a series. */
const EMPTY_WHERE_WELL = new Set([
  'Watches that were reconnected',
  'Checkpoints outside the cluster',
  'Refused renewals',
]);
/** A person's certificate has an owner without one. */
const NOT_OF_PEOPLE = 'owner_namespace';
/** The certificate that approver serves here lives an hour. */
const HERE_RIGHTLY = 'CountersignServingCertificateExpiresSoon';

let fixture: Fixture;
let stand: LedgerStand;
let prometheus: Prometheus;
let directory: string;
let receiver: OtlpReceiver;

before(async () => {
  receiver = await startOtlpReceiver();
  // Of the components, which inherit it.
  Object.assign(process.env, {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  });
  fixture = await startFixture({ only: ['authority', 'attester'] });
  const { cluster } = fixture;
  stand = await LedgerStand.create(cluster);
  const recording = ['signer', 'pcr-issuer'] as const;
  const running = [...Object.values(fixture.installation.components), await stand.startLedger()];
  for (const name of recording) {
    running.push(await stand.start(name, '--ledger-mode', 'best-effort'));
  }
  directory = mkdtempSync(join(tmpdir(), 'countersign-scrape-'));
  const { cert, key } = await tlsCertificate('approver');
  writeFileSync(join(directory, 'tls.crt'), cert);
  writeFileSync(join(directory, 'tls.key'), key);
  const flags = ['--listen-https', '127.0.0.1:0', '--serving-certificate', directory];
  const approver = await stand.start('approver', '--ledger-mode', 'best-effort', ...flags);
  const started = approver.log.find(({ msg }) => msg === 'started');
  prometheus = await startPrometheus({
    targets: running.map(({ url }) => new URL(url).host),
    secured: { target: `127.0.0.1:${Number(started?.['httpsPort'])}`, ca: cert },
    rules: ALERT_RULES,
  });
  await allowRequesters(cluster);
  await createTeam(cluster, 'team-a', ['web']);
  await work();
});

after(async () => {
  await prometheus.stop();
  await stand.stop();
  await fixture.stop();
  await receiver.stop();
  rmSync(directory, { recursive: true });
});

/** People and pods, some who get a certificate and some who do not. */
async function work(): Promise<void> {
  const { cluster } = fixture;
  await waitForCertificate(cluster, await createCsr(cluster));
  const refused = await createCsr(cluster, { organizations: ['system:masters'] });
  await waitForCondition(cluster, refused, 'Denied');
  const wanted = { namespace: 'team-a', name: 'web', serviceAccount: 'web', node: 'node-1' };
  const of = { signerName: 'example.com/workload', keyType: 'ED25519' };
  await createPod(cluster, { ...wanted, ...of });
  await waitForRequest(cluster, 'team-a', 'web', 'Issued');
}

/** Grafana puts in four scrape intervals at least. */
const asked = (expr: string): string => expr.replaceAll('$__rate_interval', '15s');

for (const dashboard of [OVERVIEW, OPTIONAL_COMPONENTS]) {
  for (const { title: row, panels } of dashboard.rows) {
    for (const panel of panels) {
      test(`${row}, ${panel.title}: ${NOT_HERE.includes(row) ? 'Prometheus takes its queries' : 'it shows something'}`, async () => {
        await shows(panel, !NOT_HERE.includes(row) && !EMPTY_WHERE_WELL.has(panel.title));
      });
    }
  }
}

async function shows({ queries }: Panel, something: boolean): Promise<void> {
  for (const { expr, legend } of queries) {
    const found = await until(`${expr} finds something`, PATIENCE, async () => {
      const samples = await prometheus.query(asked(expr));
      if (samples.length > 0 || !something) return samples;
      // A rate is over what happened while it was looked.
      await waitForCertificate(fixture.cluster, await createCsr(fixture.cluster));
      return undefined;
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

test('Prometheus takes each alert, and each finds the series that it asks for', async () => {
  for (const { alert, expr } of ALERT_RULES) {
    await prometheus.query(String(expr));
    const series = new Set(String(expr).match(/\b(?:countersign|nodejs)_\w+/g));
    for (const name of series) {
      if (NEVER_HERE.test(name)) continue;
      await until(`${String(alert)} finds ${name}`, PATIENCE, async () => {
        return (await prometheus.query(`count(${name})`)).length > 0;
      });
    }
  }
});

test('where all is well, no alert is pending or fires', async () => {
  await until('no alert is pending', PATIENCE, async () => {
    const alerts = (await prometheus.alerts()).filter((each) => each !== HERE_RIGHTLY);
    if (alerts.length > 0) throw new Error(alerts.join(', '));
    return true;
  });
});

test('a CSR is one trace: approved by approver, recorded, signed and written by signer', async () => {
  const name = await createCsr(fixture.cluster);
  await waitForCertificate(fixture.cluster, name);
  const spans: ReceivedSpan[] = [];
  const its = await until('all of its spans are received', PATIENCE, () => {
    spans.push(...receiver.take());
    const root = spans.find(({ attributes }) => attributes['countersign.request.name'] === name);
    const found = spans.filter(({ traceId }) => traceId === root?.traceId);
    const services = new Set(found.map(({ service }) => service));
    return services.size === 2 && found.some((each) => each.name === 'sign') ? found : undefined;
  });
  const named = new Set(its.map((each) => `${String(each.service)} ${each.name}`));
  for (const span of ['CertificateSigningRequest reconcile', 'queue', 'sign', 'record', 'PUT'])
    assert.ok(named.has(`countersign-signer ${span}`), span);
  assert.ok(named.has('countersign-approver PUT'));
});

test('the first foreign anchor that somebody writes into a bundle fires its alert', async () => {
  const { cluster } = fixture;
  const { cert } = await tlsCertificate('stranger');
  const patch = JSON.stringify({ spec: { trustBundle: cert } });
  const bundle = 'example.com:workload:primary';
  await cluster.kubectl(['patch', 'clustertrustbundle', bundle, '--type=merge', '-p', patch]);
  await until('the alert fires', PATIENCE, async () =>
    (await prometheus.alerts()).includes('CountersignStrangerAnchor'),
  );
});

test('a component that lost its rights is on the dashboard, and its alert is pending', async () => {
  const { cluster } = fixture;
  await cluster.kubectl(['delete', 'clusterrolebinding', 'countersign-signer']);
  await until('the alert is pending', PATIENCE, async () =>
    (await prometheus.alerts()).includes('CountersignMissingRights'),
  );
  const [panel] = OVERVIEW.rows
    .flatMap(({ panels }) => panels)
    .filter(({ title }) => title === 'Missing permissions');
  const [found] = await prometheus.query(panel?.queries[0]?.expr ?? '');
  assert.ok((found?.value ?? 0) > 0);
});
