// SPDX-License-Identifier: Apache-2.0
/**
 * With the real cert-manager: its own controllers and its own webhook, on a real cluster. A user
 * writes Certificates; everything between those and their Secrets is cert-manager's and ours.
 */
import assert from 'node:assert/strict';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { after, before, test } from 'node:test';
import { until } from '../cluster/until.ts';
import {
  allowCertificateRequesters,
  asRequester,
  certificateRequestBody,
  decideOn,
  getCertificateRequest,
  readyOf,
  waitForReadyReason,
} from '../support/cluster/requests/certificate-request.ts';
import {
  applySigner,
  example,
  startFixture,
  waitForUsableCa,
  type Fixture,
} from '../support/cluster/fixture.ts';
import {
  applyCertificate,
  conditionOf,
  getSecret,
  requestsOf,
  waitForFailure,
  waitForRevision,
} from './certificates.ts';
import { allowApproval } from './manifests.ts';
import { startCertManager, type CertManager } from './start.ts';

let fixture: Fixture;
let certManager: CertManager | undefined;
before(async () => {
  fixture = await startFixture({ only: ['authority', 'attester', 'certificate-request'] });
  const { cluster } = fixture;
  await cluster.kubectl(['create', 'namespace', 'team-a']);
  // For `people` nobody may approve but an administrator.
  await allowApproval(cluster, 'clustersigners.countersign.dev/workload');
  certManager = await startCertManager(cluster);
  await allowCertificateRequesters(cluster);
});
after(async () => {
  await certManager?.stop();
  await fixture.stop();
});

const SOON = 60_000;
const CERT_MANAGER = 'system:serviceaccount:cert-manager:cert-manager';

function leafOf(data: Readonly<Record<string, string>> = {}): X509Certificate {
  return new X509Certificate(Buffer.from(data['tls.crt'] ?? '', 'base64'));
}

test('a Certificate becomes a Secret with key, chain and CA', async () => {
  const { cluster } = fixture;
  await applyCertificate(cluster, { name: 'web' });
  await waitForRevision(cluster, 'web', 1);
  const { data = {}, metadata } = await getSecret(cluster, 'web');
  const leaf = leafOf(data);
  assert.equal(leaf.subjectAltName, 'DNS:web.team-a.svc');
  assert.equal(leaf.ca, false);
  const key = createPrivateKey(Buffer.from(data['tls.key'] ?? '', 'base64'));
  assert.ok(leaf.checkPrivateKey(key));
  const ca = new X509Certificate(Buffer.from(data['ca.crt'] ?? '', 'base64'));
  assert.ok(leaf.checkIssued(ca) && leaf.verify(ca.publicKey));
  assert.equal(metadata.annotations?.['cert-manager.io/issuer-group'], 'countersign.dev');
  const [request, ...more] = await requestsOf(cluster, 'web');
  assert.ok(request !== undefined && more.length === 0);
  // By its webhook; our policy holds it to that.
  assert.equal(request.spec.username, CERT_MANAGER);
});

test('a Certificate is reissued with the new names when its spec changes', async () => {
  const { cluster } = fixture;
  await applyCertificate(cluster, { name: 'changing' });
  await waitForRevision(cluster, 'changing', 1);
  const before = leafOf((await getSecret(cluster, 'changing')).data);
  const dnsNames = ['changing.team-a.svc', 'changed.team-a.svc'];
  await applyCertificate(cluster, { name: 'changing', spec: { dnsNames } });
  await waitForRevision(cluster, 'changing', 2);
  const leaf = leafOf((await getSecret(cluster, 'changing')).data);
  assert.equal(leaf.subjectAltName, 'DNS:changing.team-a.svc, DNS:changed.team-a.svc');
  assert.notEqual(leaf.serialNumber, before.serialNumber);
});

test('a Certificate is renewed with a new key before expiry, by the leaf’s times', async () => {
  const { cluster } = fixture;
  // A leaf of an hour has 59 minutes to live: it is to be renewed five seconds later.
  const spec = { duration: '1h', renewBefore: '58m55s' };
  await applyCertificate(cluster, { name: 'renewing', spec });
  await waitForRevision(cluster, 'renewing', 1);
  const first = leafOf((await getSecret(cluster, 'renewing')).data);
  assert.equal(Date.parse(first.validTo) - Date.parse(first.validFrom), 3_600_000);
  await waitForRevision(cluster, 'renewing', 2);
  const second = leafOf((await getSecret(cluster, 'renewing')).data);
  await cluster.kubectl(['delete', 'certificate', 'renewing', '-n', 'team-a']);
  assert.ok(Date.parse(second.validTo) > Date.parse(first.validTo));
  assert.notEqual(second.fingerprint256, first.fingerprint256);
  assert.ok(!second.publicKey.equals(first.publicKey));
});

test('an impossible Certificate fails with our reason and recovers after a spec fix', async () => {
  const { cluster } = fixture;
  const usages = ['digital signature', 'ocsp signing'];
  await applyCertificate(cluster, { name: 'default', spec: { usages } });
  const issuing = await waitForFailure(cluster, 'default');
  assert.equal(issuing.reason, 'UsageNotAllowed');
  assert.match(issuing.message ?? '', /ocsp signing/);
  const [request] = await requestsOf(cluster, 'default');
  assert.ok(request !== undefined && readyOf(request)?.reason === 'Failed');
  assert.ok(request.status?.failureTime);
  await applyCertificate(cluster, { name: 'default' });
  await waitForRevision(cluster, 'default', 1);
});

test('an approved request without a rule waits until a rule allows it', async () => {
  const { cluster } = fixture;
  await applyCertificate(cluster, { name: 'foreign', spec: { dnsNames: ['www.example.com'] } });
  const note = await until('the Event is there', SOON, async () => {
    const { stdout } = await cluster.kubectl([
      'get',
      'events.events.k8s.io',
      '-n',
      'team-a',
      '--field-selector',
      'reason=NoRuleMatched',
      '-o',
      'jsonpath={.items[*].note}',
    ]);
    return stdout === '' ? undefined : stdout;
  });
  assert.match(note, /www\.example\.com/);
  const signer = example('workload');
  const usages = ['digital signature', 'server auth'];
  const rule = {
    name: 'site',
    when: 'true',
    allow: { dnsNames: "self == 'www.example.com'", usages },
  };
  const rules = [...(signer.spec.certificateRequests?.rules ?? []), rule];
  await applySigner(cluster, {
    ...signer,
    spec: { ...signer.spec, certificateRequests: { rules } },
  });
  await waitForRevision(cluster, 'foreign', 1);
});

test('a denied request is Denied in the CertificateRequest and in the Certificate', async () => {
  const { cluster } = fixture;
  const signer = example('people');
  const allow = { dnsNames: 'true', usages: ['digital signature', 'client auth'] };
  const certificateRequests = { rules: [{ name: 'all', when: 'true', allow }] };
  await applySigner(cluster, { ...signer, spec: { ...signer.spec, certificateRequests } });
  await waitForUsableCa(cluster, 'people');
  const usages = ['digital signature', 'client auth'];
  await applyCertificate(cluster, { name: 'denied', issuer: 'people', spec: { usages } });
  const request = await until('cert-manager asks', SOON, async () => {
    const [first] = await requestsOf(cluster, 'denied');
    return first;
  });
  const key = `team-a/${request.metadata.name}`;
  // cert-manager's approver may not say anything of this one.
  assert.equal((await getCertificateRequest(cluster, key)).status?.conditions, undefined);
  await decideOn(cluster, key, 'Denied');
  const shown = await waitForReadyReason(cluster, key, 'Denied');
  assert.ok(shown.status?.failureTime);
  const issuing = await waitForFailure(cluster, 'denied');
  assert.equal(issuing.reason, 'Test', 'the approver’s own reason');
  await assert.rejects(getSecret(cluster, 'denied'), /NotFound/);
});

test('with cert-manager’s webhook a request names its real creator', async () => {
  const { cluster } = fixture;
  const body = await certificateRequestBody({ username: 'somebody-else' });
  await cluster.kubectl(['create', '-f', '-', ...asRequester()], {
    input: JSON.stringify(body),
    allowFailure: true,
  });
  const key = `${body.metadata.namespace}/${body.metadata.name}`;
  const made = await getCertificateRequest(cluster, key).catch(() => undefined);
  assert.ok(made === undefined || made.spec.username === 'jane');
});

test('every Certificate stays Ready: cert-manager requests nothing again', async () => {
  const { cluster } = fixture;
  const certificate = await waitForRevision(cluster, 'web', 1);
  assert.equal(conditionOf(certificate, 'Issuing'), undefined);
  assert.equal((await requestsOf(cluster, 'web')).length, 1);
});
