// SPDX-License-Identifier: Apache-2.0
/** Outages and ends of processes: nothing is lost, nothing is delivered twice. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../cluster/until.ts';
import { componentCalls } from '../support/cluster/audit.ts';
import { startComponent } from '../support/cluster/component-process.ts';
import {
  allowRequesters,
  createCsr,
  getCsr,
  waitForCertificate,
} from '../support/cluster/requests/csr.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';
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

const OUTAGE_MS = 60_000;
const WAIT_MS = 120_000;

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_value, index) => `${prefix}-${index}`);
}

/**
 * Object → how many writes of our components to its status succeeded. 0 where the only one that the
 * log has was answered to nobody: of a writer that was killed meanwhile the API server notes 499 or
 * 504, stored or not.
 */
async function deliveries(): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { verb, objectRef, responseStatus } of await componentCalls(fixture.cluster)) {
    if (verb !== 'update' || objectRef?.subresource !== 'status') continue;
    if (responseStatus?.code === 409 || objectRef.resource === 'clustersigners') continue;
    const key = `${objectRef.resource ?? ''}/${objectRef.name ?? ''}`;
    counts.set(key, (counts.get(key) ?? 0) + Number(responseStatus?.code === 200));
  }
  return counts;
}

async function assertDeliveredOnce(csrs: readonly string[]): Promise<void> {
  const counts = await until('every delivery is in the audit log', WAIT_MS, async () => {
    const found = await deliveries();
    return csrs.every((name) => found.has(`certificatesigningrequests/${name}`))
      ? found
      : undefined;
  });
  assert.deepEqual(
    [...counts].filter(([, count]) => count > 1),
    [],
  );
}

test('after a minute without the API server nothing is lost or delivered twice', async () => {
  const { cluster, installation } = fixture;
  const { signer, 'pcr-issuer': issuer, approver } = installation.components;
  for (const each of [signer, issuer, approver]) each.signal('SIGSTOP');
  const csrs = names('outage', 12);
  await Promise.all(csrs.map((name) => createCsr(cluster, { name })));
  const pods = names('outage', 4);
  for (const name of pods) {
    await createPod(cluster, {
      namespace: 'team-a',
      name,
      serviceAccount: 'web',
      node: 'node-1',
      signerName: 'example.com/workload',
      keyType: 'ED25519',
    });
  }
  await cluster.apiServer.stop();
  for (const each of [signer, issuer, approver]) each.signal('SIGCONT');
  // How long it lasts is the point of this test: there is nothing to await meanwhile.
  await delay(OUTAGE_MS);
  const { status } = await signer.readyz();
  assert.equal(status, 503);
  await cluster.apiServer.start();
  for (const name of csrs) {
    await until(`${name} has its certificate`, WAIT_MS, async () => {
      return (await getCsr(cluster, name)).status?.certificate !== undefined;
    });
  }
  for (const name of pods) await waitForRequest(cluster, 'team-a', name, 'Issued');
  // Their kubelet mounts what was issued after a backoff of its own, which is up to 122 s by now.
  await Promise.all([signer, issuer, approver].map((each) => each.ready(WAIT_MS)));
  await assertDeliveredOnce(csrs);
});

test('SIGTERM finishes requests in flight and exits 0; the next process does the rest', async () => {
  const { cluster, installation } = fixture;
  const csrs = names('term', 24);
  await Promise.all(csrs.map((name) => createCsr(cluster, { name })));
  const code = await installation.components.signer.stop();
  assert.equal(code, 0);
  const last = installation.components.signer.log.at(-1);
  assert.equal(last?.['msg'], 'stopped');
  const next = await startSigner();
  try {
    await Promise.all(csrs.map((name) => waitForCertificate(cluster, name)));
    await assertDeliveredOnce(csrs);
  } finally {
    await next.stop();
  }
});

test('a killed signer’s successor finishes its work and delivers nothing twice', async () => {
  const { cluster } = fixture;
  const killed = await startSigner();
  const csrs = names('kill', 24);
  const created = Promise.all(csrs.map((name) => createCsr(cluster, { name })));
  await until('it has signed one', WAIT_MS, () =>
    killed.log.some(({ outcome }) => outcome === 'issued'),
  );
  await killed.kill();
  await created;
  const next = await startSigner();
  try {
    await Promise.all(csrs.map((name) => waitForCertificate(cluster, name)));
    await assertDeliveredOnce(csrs);
  } finally {
    await next.stop();
  }
});

test('no log line of any component holds a key or a token', () => {
  for (const { log } of Object.values(fixture.installation.components)) {
    const text = JSON.stringify(log);
    assert.doesNotMatch(text, /PRIVATE KEY/);
    assert.doesNotMatch(text, /eyJhbGciOi/);
  }
});

async function startSigner(): ReturnType<typeof startComponent> {
  const kubeconfig = await fixture.cluster.serviceAccountKubeconfig(
    SYSTEM_NAMESPACE,
    'countersign-signer',
  );
  return startComponent({ name: 'signer', kubeconfig });
}
