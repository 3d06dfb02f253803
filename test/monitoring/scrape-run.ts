// SPDX-License-Identifier: Apache-2.0
/**
 * The queries of the overview, the ledger and the alerts, answered by a real Prometheus that
 * scrapes components at work. `panels.ts` says what the other runs show.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ALERT_RULES } from '#install/monitoring/alert-rules.ts';
import { OPTIONAL_COMPONENTS } from '#install/monitoring/optional-panels.ts';
import { OVERVIEW } from '#install/monitoring/panels.ts';
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
import {
  OF_AUTHORITIES,
  OF_OPTIONAL,
  panelsOf,
  PATIENCE,
  testAlertSeries,
  testDashboard,
} from './panels.ts';
import { startPrometheus, type Prometheus } from './prometheus.ts';

/**
 * Of components that are not here; of CRLs, which no profile asks for; what begins with the first
 * foreign anchor.
 */
const NEVER_HERE =
  /^countersign_(?:federation_|notifications_|crl_failing|trust_bundle_unexpected_anchors_total|trust_targets_lagging|renewal_refused_|ledger_checkpoint_[uc])/;
/** Right as they are, without a series. */
const EMPTY_WHERE_WELL = new Set([
  'Watches that were reconnected',
  'Checkpoints outside the cluster',
  'Refused renewals',
]);
const ASK_EVERY_MS = 2_000;
/** The certificate that approver serves here lives an hour. */
const HERE_RIGHTLY = 'CountersignServingCertificateExpiresSoon';

let fixture: Fixture;
let stand: LedgerStand;
let prometheus: Prometheus;
let directory: string;
let receiver: OtlpReceiver;
let began: number;
const asking = new AbortController();
let asked: Promise<void> = Promise.resolve();

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
  began = Date.now();
  asked = ask(asking.signal);
});

after(async () => {
  asking.abort();
  await asked;
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

/** People who ask all the time, every fifth for what no rule allows. */
async function ask(signal: AbortSignal): Promise<void> {
  for (let turn = 1; !signal.aborted; turn += 1) {
    const organizations = turn % 5 === 0 ? { organizations: ['system:masters'] } : {};
    await createCsr(fixture.cluster, organizations);
    await delay(ASK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

testDashboard(panelsOf(OVERVIEW, 'others'), EMPTY_WHERE_WELL, () => ({ prometheus, began }));
const ledger = OPTIONAL_COMPONENTS.rows.filter(({ title }) => title === 'Ledger');
testDashboard(
  { name: 'ledger', title: 'Countersign: ledger', rows: ledger },
  EMPTY_WHERE_WELL,
  () => ({ prometheus, began }),
);

const isElsewhere = (series: string): boolean =>
  [NEVER_HERE, OF_AUTHORITIES, OF_OPTIONAL].some((each) => each.test(series));
testAlertSeries(
  (series) => !isElsewhere(series),
  () => ({ prometheus }),
);

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
    (await prometheus.alerts()).includes('CountersignUnexpectedAnchor'),
  );
});

test('a component that lost its rights is on the dashboard, and its alert is pending', async () => {
  const { cluster } = fixture;
  await cluster.kubectl(['delete', 'clusterrolebinding', 'countersign-signer']);
  await until('the alert is pending', PATIENCE, async () =>
    (await prometheus.alerts()).includes('CountersignMissingPermissions'),
  );
  const [panel] = OVERVIEW.rows
    .flatMap(({ panels }) => panels)
    .filter(({ title }) => title === 'Missing permissions');
  const [found] = await prometheus.query(Object.values(panel?.queries ?? {})[0] ?? '');
  assert.ok((found?.value ?? 0) > 0);
});
