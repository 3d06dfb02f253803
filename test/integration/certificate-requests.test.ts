// SPDX-License-Identifier: Apache-2.0
/**
 * CertificateRequests on the real API server with cert-manager's own CRDs, and nothing else of it:
 * what its controllers and its webhook write, the tests write.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { applyCrds, deleteCrds } from '../certmanager/crds.ts';
import { until } from '../cluster/until.ts';
import { countersign } from '../support/cluster/countersign.ts';
import {
  allowCertificateRequesters,
  approvedRequest,
  asRequester,
  certificateRequestBody,
  createCertificateRequest,
  decideOn,
  getCertificateRequest,
  readyOf,
  waitForReadyReason,
  type CertificateRequestWanted,
} from '../support/cluster/requests/certificate-request.ts';
import {
  applySigner,
  example,
  startFixture,
  waitForUsableCa,
  type Fixture,
} from '../support/cluster/fixture.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';

let fixture: Fixture;
let component: ComponentProcess;
before(async () => {
  // No cert-manager yet: the first test is about that.
  fixture = await startFixture({ only: ['authority', 'attester', 'certificate-request'] });
  component = fixture.installation.components['certificate-request'];
  await fixture.cluster.kubectl(['create', 'namespace', 'team-a']);
});
after(() => fixture.stop());

const HOUR = 3600;
const SOON = 60_000;

function text(base64 = ''): string {
  return Buffer.from(base64, 'base64').toString();
}

async function awake(): Promise<void> {
  await until('it is awake', SOON, async () => {
    const { status, text: said } = await component.readyz();
    return status === 200 && !said.includes('install cert-manager');
  });
}

test('the controller is ready without cert-manager and works once it is installed', async () => {
  const { status, text: said } = await component.readyz();
  assert.equal(status, 200);
  assert.match(said, /certificaterequests\.cert-manager\.io\/v1.*install cert-manager/);
  await applyCrds(fixture.cluster);
  await allowCertificateRequesters(fixture.cluster);
  await awake();
  await waitForReadyReason(fixture.cluster, await approvedRequest(fixture.cluster), 'Issued');
});

test('an approved CertificateRequest that a rule allows is issued in one write', async () => {
  const { cluster } = fixture;
  const key = await approvedRequest(cluster, { dnsNames: ['web.team-a.svc', 'api.team-a.svc'] });
  const { status } = await waitForReadyReason(cluster, key, 'Issued');
  const leaf = new X509Certificate(text(status?.certificate));
  assert.equal(leaf.subjectAltName, 'DNS:web.team-a.svc, DNS:api.team-a.svc');
  assert.deepEqual([leaf.subject, leaf.ca], [undefined, false]);
  // serverAuth (RFC 5280 §4.2.1.12).
  assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  const root = new X509Certificate(text(status?.ca));
  assert.ok(leaf.verify(root.publicKey) && root.ca);
  assert.equal(status?.failureTime, undefined);
  const [namespace, name] = key.split('/');
  const writes = await until('the write is in the audit log', SOON, async () => {
    const calls = (await cluster.readAudit()).filter(
      ({ user, objectRef, verb, stage }) =>
        user.username.endsWith(':countersign-certificate-request') &&
        objectRef?.namespace === namespace &&
        objectRef?.name === name &&
        verb !== 'get' &&
        stage === 'ResponseComplete',
    );
    return calls.length > 0 && calls;
  });
  assert.deepEqual(
    writes.map(({ verb, objectRef }) => [verb, objectRef?.subresource]),
    [['update', 'status']],
  );
});

const lifetimes: [law: string, duration: string | undefined, seconds: number][] = [
  ['none asked for: the profile’s longest', undefined, 24 * HOUR],
  ['cert-manager’s ninety days: the profile’s longest', '2160h0m0s', 24 * HOUR],
  ['less than that: what is asked for', '1h0m0s', HOUR],
];

for (const [law, duration, seconds] of lifetimes) {
  test(`duration: ${law}`, async () => {
    const key = await approvedRequest(fixture.cluster, duration === undefined ? {} : { duration });
    const { status } = await waitForReadyReason(fixture.cluster, key, 'Issued');
    const leaf = new X509Certificate(text(status?.certificate));
    assert.equal((Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)) / 1000, seconds);
  });
}

test('a denied CertificateRequest is Ready=False Denied with a failureTime only', async () => {
  const key = await createCertificateRequest(fixture.cluster);
  await decideOn(fixture.cluster, key, 'Denied');
  const { status } = await waitForReadyReason(fixture.cluster, key, 'Denied');
  assert.equal(status?.certificate, undefined);
  assert.ok(Date.now() - Date.parse(status?.failureTime ?? '') < SOON);
});

const refused: [law: string, wanted: CertificateRequestWanted, says: RegExp][] = [
  ['a CA', { isCA: true }, /^CertificateAuthority: /],
  ['a reserved name', { commonName: 'system:admin' }, /^ReservedSubject: .*system:admin/],
  ['a usage outside the profile', { usages: ['ocsp signing'] }, /^UsageNotAllowed: .*ocsp signing/],
  ['a key outside the profile', { keyType: 'RSA3072' }, /^UnsupportedKeyType: /],
  ['a minute', { duration: '1m' }, /^InvalidDuration: /],
  ['bytes that are no request', { pem: 'hello' }, /^MalformedRequest: /],
];

for (const [law, wanted, says] of refused) {
  test(`an approved CertificateRequest fails permanently with a reason: ${law}`, async () => {
    const key = await approvedRequest(fixture.cluster, wanted);
    const request = await waitForReadyReason(fixture.cluster, key, 'Failed');
    assert.match(readyOf(request)?.message ?? '', says);
    assert.ok(request.status?.failureTime);
    assert.equal(request.status.certificate, undefined);
  });
}

test('an approved CertificateRequest is Pending, with an Event, until a rule allows it', async () => {
  const { cluster } = fixture;
  const key = await approvedRequest(cluster, { dnsNames: ['web.example.com'] });
  const note = await until('the Event is there', SOON, async () => {
    const { stdout } = await cluster.kubectl([
      'get',
      'events.events.k8s.io',
      '-n',
      'team-a',
      '--field-selector',
      `regarding.name=${key.split('/')[1] ?? ''}`,
      '-o',
      'jsonpath={.items[*].note}',
    ]);
    return stdout === '' ? undefined : stdout;
  });
  assert.match(note, /services-of-a-team.*web\.example\.com/);
  const ready = readyOf(await getCertificateRequest(cluster, key));
  assert.deepEqual([ready?.status, ready?.reason], ['False', 'Pending']);
  assert.match(ready?.message ?? '', /^NoRuleMatched: .*web\.example\.com/);
  const signer = example('workload');
  const rule = {
    name: 'one-host',
    when: 'true',
    allow: { dnsNames: "self == 'web.example.com'", usages: ['digital signature', 'server auth'] },
  };
  const rules = [...(signer.spec.certificateRequests?.rules ?? []), rule];
  await applySigner(cluster, {
    ...signer,
    spec: { ...signer.spec, certificateRequests: { rules } },
  });
  await waitForReadyReason(cluster, key, 'Issued');
  await applySigner(cluster, signer);
  await waitForUsableCa(cluster, 'workload');
});

const foreign: [law: string, issuerRef: CertificateRequestWanted['issuerRef']][] = [
  ['of another group', { group: 'example.com' }],
  ['of another kind', { kind: 'Issuer' }],
  ['of a ClusterSigner that there is not', { name: 'nobody' }],
  ['of a ClusterSigner that takes none', { name: 'people' }],
];

test('CertificateRequests for other issuers are never touched, approved or denied', async () => {
  const { cluster } = fixture;
  const keys: string[] = [];
  for (const [, issuerRef = {}] of foreign) {
    keys.push(await approvedRequest(cluster, { issuerRef }));
  }
  await waitForReadyReason(cluster, await approvedRequest(cluster), 'Issued');
  for (const [index, key] of keys.entries()) {
    const { status } = await getCertificateRequest(cluster, key);
    assert.equal(status?.conditions?.length, 1, foreign[index]?.[0]);
  }
});

async function refusedBy(args: readonly string[], body?: object): Promise<string> {
  const input = body === undefined ? {} : { input: JSON.stringify(body) };
  const options = { ...input, allowFailure: true };
  const { code, stderr } = await fixture.cluster.kubectl([...args, ...asRequester()], options);
  assert.notEqual(code, 0, 'the API server took it');
  return stderr;
}

test('a CertificateRequest must name its real creator', async () => {
  const said = await until('the policy is in force', SOON, async () => {
    const body = await certificateRequestBody({ username: 'system:serviceaccount:a:b' });
    return refusedBy(['create', '-f', '-'], body);
  });
  assert.match(said, /spec\.username, uid, groups and extra .* not those of jane/);
});

test('the spec of an approved CertificateRequest is immutable', async () => {
  const key = await createCertificateRequest(fixture.cluster, { dnsNames: ['a.team-a.svc'] });
  const [namespace = '', name = ''] = key.split('/');
  const patch = JSON.stringify({ spec: { isCA: true } });
  const said = await refusedBy([
    'patch',
    'certificaterequest',
    name,
    '-n',
    namespace,
    '--type=merge',
    '-p',
    patch,
  ]);
  assert.match(said, /is immutable/);
});

test('countersign approve and deny decide a CertificateRequest as cmctl does', async () => {
  const { cluster } = fixture;
  const decide = async (verb: string, key: string): Promise<void> => {
    const [namespace = '', name = ''] = key.split('/');
    const of = ['--kubeconfig', cluster.kubeconfig, '-n', namespace];
    const { code, stderr } = await countersign([verb, `certificaterequest/${name}`, ...of]);
    assert.equal(code, 0, stderr);
  };
  const approved = await createCertificateRequest(cluster);
  await decide('approve', approved);
  await waitForReadyReason(cluster, approved, 'Issued');
  const denied = await createCertificateRequest(cluster);
  await decide('deny', denied);
  await waitForReadyReason(cluster, denied, 'Denied');
});

test('a status writer cannot approve without the verb approve on the ClusterSigner', async () => {
  const { cluster } = fixture;
  const key = await createCertificateRequest(cluster);
  await assert.rejects(
    decideOn(cluster, key, 'Approved', asRequester()),
    /may not approve or deny .*ClusterSigner workload.*signers\.cert-manager\.io/,
  );
  const { status } = await getCertificateRequest(cluster, key);
  assert.equal(status?.conditions, undefined);
});

test('the controller waits while cert-manager’s CRDs are deleted, then works again', async () => {
  await deleteCrds(fixture.cluster);
  await until('it waits for cert-manager', SOON, async () => {
    const { status, text: said } = await component.readyz();
    return status === 200 && said.includes('install cert-manager');
  });
  await applyCrds(fixture.cluster);
  await awake();
  await waitForReadyReason(fixture.cluster, await approvedRequest(fixture.cluster), 'Issued');
});
