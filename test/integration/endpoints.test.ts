// SPDX-License-Identifier: Apache-2.0
/** What every component serves and writes: /healthz, /readyz, /metrics, one log line a decision. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../cluster/until.ts';
import { allowRequesters, createCsr, waitForCertificate } from '../support/cluster/requests/csr.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { COMPONENTS, startComponent } from '../support/cluster/component-process.ts';
import { SYSTEM_NAMESPACE } from '../support/cluster/installation.ts';
import { waitForRequest } from '../support/cluster/requests/pod-certificate-request.ts';
import { createPod, createTeam } from '../support/cluster/pods.ts';

let fixture: Fixture;
before(async () => {
  fixture = await startFixture();
  await allowRequesters(fixture.cluster);
  await createTeam(fixture.cluster, 'team-a', ['web']);
});
after(() => fixture.stop());

const WAIT_MS = 120_000;

test('every component answers /healthz and /readyz with 200, other paths with 404', async () => {
  for (const name of COMPONENTS) {
    const { url } = fixture.installation.components[name];
    for (const [path, status] of [
      ['/healthz', 200],
      ['/readyz', 200],
      ['/', 404],
    ] as const) {
      assert.equal((await fetch(url + path)).status, status, `${name} ${path}`);
    }
  }
});

test('each decision is counted, timed and logged once', async () => {
  const csr = await createCsr(fixture.cluster);
  await waitForCertificate(fixture.cluster, csr);
  await createPod(fixture.cluster, {
    namespace: 'team-a',
    name: 'web',
    serviceAccount: 'web',
    node: 'node-1',
    signerName: 'example.com/workload',
    keyType: 'ED25519',
  });
  const request = await waitForRequest(fixture.cluster, 'team-a', 'web', 'Issued');
  const { approver, signer, 'pcr-issuer': issuer } = fixture.installation.components;
  const decided = [
    {
      component: approver,
      name: csr,
      outcome: 'approved',
      kind: 'CertificateSigningRequest',
      by: 'example.com/people',
    },
    {
      component: signer,
      name: csr,
      outcome: 'issued',
      kind: 'CertificateSigningRequest',
      by: 'example.com/people',
    },
    {
      component: issuer,
      name: request.metadata.name,
      outcome: 'issued',
      kind: 'PodCertificateRequest',
      by: 'example.com/workload',
    },
  ];
  for (const { component, name, outcome, kind, by } of decided) {
    const lines = component.log.filter((line) => line['name'] === name);
    assert.deepEqual(
      lines.map((line) => line['outcome']),
      [outcome],
    );
    const text = await component.metrics();
    const series = text
      .split('\n')
      .find(
        (line) =>
          line.startsWith('countersign_requests_total{') &&
          line.includes(`kind="${kind}"`) &&
          line.includes(`signer="${by}"`) &&
          line.includes(`outcome="${outcome}"`),
      );
    assert.match(series ?? '', / [1-9]\d*$/);
  }
});

test('the metrics have the names in the documentation', async () => {
  const text = await fixture.installation.components['pcr-issuer'].metrics();
  const wanted = [
    'countersign_requests_total',
    'countersign_request_duration_seconds_bucket',
    'countersign_request_pending',
    'countersign_watch_restarts_total',
    'countersign_build_info',
    'workqueue_depth',
    'workqueue_adds_total',
    'workqueue_queue_duration_seconds_bucket',
    'workqueue_work_duration_seconds_bucket',
    'workqueue_retries_total',
  ];
  for (const name of wanted)
    assert.match(text, new RegExp(`^# TYPE ${name.replace(/_bucket$/, '')} `, 'm'));
});

test('a component whose API server cannot be reached is alive, and not ready', async () => {
  const kubeconfig = await fixture.cluster.serviceAccountKubeconfig(
    SYSTEM_NAMESPACE,
    'countersign-approver',
  );
  const component = await startComponent({ name: 'approver', kubeconfig });
  try {
    await component.ready(WAIT_MS);
    await fixture.cluster.apiServer.stop();
    await until('it is not ready', WAIT_MS, async () => (await component.readyz()).status === 503);
    assert.equal((await fetch(`${component.url}/healthz`)).status, 200);
    await fixture.cluster.apiServer.start();
    await component.ready(2 * WAIT_MS);
  } finally {
    await component.stop();
  }
});
