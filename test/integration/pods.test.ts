// SPDX-License-Identifier: Apache-2.0
/**
 * PodCertificateRequests through real kubelets. The exact lifetimes, bounds and the mutual TLS of
 * the demo are upstream's own conformance expectations (kubernetes
 * test/e2e/auth/projected_podcertificate.go:161-238).
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { until } from '../cluster/until.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { requestsOf, waitForRequest } from '../support/cluster/requests/pod-certificate-request.ts';
import { createPod, createTeam, filesOf, type PodWanted } from '../support/cluster/pods.ts';

let fixture: Fixture;
before(async () => {
  fixture = await startFixture();
  await createTeam(fixture.cluster, 'team-a', ['web']);
  await createTeam(fixture.cluster, 'other', ['web']);
});
after(() => fixture.stop());

const WAIT_MS = 120_000;

function pod(wanted: Partial<PodWanted> & { readonly name: string }): PodWanted {
  return {
    namespace: 'team-a',
    serviceAccount: 'web',
    node: 'node-1',
    signerName: 'example.com/workload',
    keyType: 'ECDSAP256',
    ...wanted,
  };
}

function times({ status }: PodCertificateRequest): {
  before: number;
  refresh: number;
  after: number;
} {
  const milliseconds = (text: string | undefined): number => Date.parse(text ?? '');
  return {
    before: milliseconds(status?.notBefore),
    refresh: milliseconds(status?.beginRefreshAt),
    after: milliseconds(status?.notAfter),
  };
}

for (const [keyType, asymmetric] of [
  ['ED25519', 'ed25519'],
  ['ECDSAP256', 'ec'],
] as const) {
  test(`an ${keyType} pod gets a credential whose names, times and chain are as promised`, async () => {
    const name = `issued-${asymmetric}`;
    await createPod(fixture.cluster, pod({ name, keyType }));
    const files = await filesOf(fixture.cluster, { namespace: 'team-a', name });
    const request = await waitForRequest(fixture.cluster, 'team-a', name, 'Issued');
    const chain = request.status?.certificateChain ?? '';
    const leaf = new X509Certificate(chain);
    assert.equal(leaf.publicKey.asymmetricKeyType, asymmetric);
    // Node's reading of an empty Name.
    assert.equal(leaf.subject, undefined);
    assert.equal(leaf.subjectAltName, 'URI:spiffe://cluster.local/ns/team-a/sa/web');
    // A managed CA is its own root, and the root is never in the chain.
    assert.equal(chain.match(/BEGIN CERTIFICATE/g)?.length, 1);
    const anchor = new X509Certificate(readFileSync(files.trust));
    assert.ok(leaf.checkIssued(anchor) && leaf.verify(anchor.publicKey));
    const { before, after: end } = times(request);
    assert.equal(before, Date.parse(leaf.validFrom));
    assert.equal(end, Date.parse(leaf.validTo));
    assert.ok(readFileSync(files.credentials, 'utf8').includes(chain.trim()));
  });
}

test('issuing changes the status only: metadata, spec and their field owners stay', async () => {
  const name = 'untouched';
  await createPod(fixture.cluster, pod({ name }));
  const issued = await waitForRequest(fixture.cluster, 'team-a', name, 'Issued');
  const get = ['get', 'podcertificaterequests', issued.metadata.name, '-n', 'team-a'];
  const { stdout } = await fixture.cluster.kubectl([...get, '--show-managed-fields', '-o', 'json']);
  const { metadata, spec } = JSON.parse(stdout) as PodCertificateRequest;
  const { generateName, ownerReferences, managedFields } = metadata as unknown as {
    generateName?: string;
    ownerReferences?: readonly { readonly name: string }[];
    managedFields: readonly { readonly subresource?: string; readonly fieldsV1: object }[];
  };
  // kubelet/podcertificate/podcertificatemanager.go, createPodCertificateRequest.
  assert.equal(generateName, 'req-');
  assert.deepEqual(
    ownerReferences?.map((each) => each.name),
    [name],
  );
  assert.equal(spec.podName, name);
  const owned = (subresource: string | undefined): string[] =>
    managedFields
      .filter((each) => each.subresource === subresource)
      .flatMap(({ fieldsV1 }) => Object.keys(fieldsV1));
  assert.deepEqual(owned('status'), ['f:status']);
  assert.deepEqual(owned(undefined), ['f:metadata', 'f:spec']);
});

for (const maxExpirationSeconds of [3600, 3601, 7200, 86_400, undefined, 7_862_400]) {
  const wanted = Math.min(maxExpirationSeconds ?? 86_400, 86_400);
  test(`maxExpirationSeconds ${maxExpirationSeconds ?? 'by default'} gives ${wanted} s`, async () => {
    const name = `life-${maxExpirationSeconds ?? 'default'}`;
    await createPod(
      fixture.cluster,
      pod({ name, ...(maxExpirationSeconds === undefined ? {} : { maxExpirationSeconds }) }),
    );
    const request = await waitForRequest(fixture.cluster, 'team-a', name, 'Issued');
    const { before, refresh, after: end } = times(request);
    assert.equal((end - before) / 1000, wanted);
    assert.ok(refresh >= before + 600_000 && refresh <= end - 600_000);
  });
}

const denied: [law: string, wanted: Partial<PodWanted>, reason: string, says: RegExp][] = [
  [
    'a key type outside the profile',
    { keyType: 'RSA3072' },
    'UnsupportedKeyType',
    /ECDSAP256, ED25519/,
  ],
  [
    'an annotation that is not known',
    { userAnnotations: { 'example.com/other': 'x' } },
    'InvalidUnverifiedUserAnnotations',
    /example.com\/role/,
  ],
  [
    'an annotation value that does not match',
    { userAnnotations: { 'example.com/role': 'A b' } },
    'InvalidUnverifiedUserAnnotations',
    /A b/,
  ],
  ['a namespace that is not allowed', { namespace: 'other' }, 'NotAllowed', /spec\.pods\.allow/],
];

for (const [index, [law, wanted, reason, says]] of denied.entries()) {
  test(`${law} is Denied with ${reason}, said on the pod, and stays denied`, async () => {
    const name = `denied-${index}`;
    const namespace = wanted.namespace ?? 'team-a';
    await createPod(fixture.cluster, pod({ name, ...wanted }));
    const request = await waitForRequest(fixture.cluster, namespace, name, 'Denied');
    const condition = request.status?.conditions?.[0];
    assert.equal(condition?.reason, reason);
    assert.match(condition.message ?? '', says);
    await until('the pod’s Event', WAIT_MS, async () => {
      const selector = `regarding.kind=Pod,regarding.name=${name},reason=${reason}`;
      const { stdout } = await fixture.cluster.kubectl([
        'get',
        'events.events.k8s.io',
        '-n',
        namespace,
        '--field-selector',
        selector,
        '-o',
        'name',
      ]);
      return stdout !== '';
    });
    // The kubelet says so itself, and asks no second time (podcertificatemanager.go).
    await until('the kubelet gives up', WAIT_MS, async () => {
      const { stdout } = await fixture.cluster.kubectl([
        'get',
        'events',
        '-n',
        namespace,
        '--field-selector',
        `involvedObject.name=${name}`,
        '-o',
        'jsonpath={.items[*].message}',
      ]);
      return /denied/i.test(stdout);
    });
    assert.equal((await requestsOf(fixture.cluster, namespace, name)).length, 1);
  });
}

test('a pod whose userAnnotations the signer accepts gets its certificate', async () => {
  const userAnnotations = { 'example.com/role': 'reader' };
  await createPod(fixture.cluster, pod({ name: 'annotated', userAnnotations }));
  await waitForRequest(fixture.cluster, 'team-a', 'annotated', 'Issued');
});

test('a restarted kubelet requests a certificate for another key and gets it', async () => {
  await createPod(fixture.cluster, pod({ name: 'again', node: 'node-2' }));
  const files = await filesOf(fixture.cluster, { namespace: 'team-a', name: 'again' });
  const before = readFileSync(files.credentials, 'utf8');
  const node = fixture.cluster.nodes.find((each) => each.name === 'node-2');
  await node?.restart();
  await until('the files have another certificate', WAIT_MS, () => {
    return readFileSync(files.credentials, 'utf8') !== before;
  });
  const requests = await requestsOf(fixture.cluster, 'team-a', 'again');
  const keys = new Set(requests.map(({ spec }) => spec.stubPKCS10Request));
  assert.equal(keys.size, 2);
});

test('a PodCertificateRequest for a ClusterSigner that serves no pods is left alone', async () => {
  await createPod(
    fixture.cluster,
    pod({ name: 'people', signerName: 'example.com/people', trustBundle: false }),
  );
  const [request] = await until('the request is there', WAIT_MS, async () => {
    const found = await requestsOf(fixture.cluster, 'team-a', 'people');
    return found.length > 0 ? found : undefined;
  });
  await createPod(fixture.cluster, pod({ name: 'witness' }));
  await waitForRequest(fixture.cluster, 'team-a', 'witness', 'Issued');
  const [now] = await requestsOf(fixture.cluster, 'team-a', 'people');
  assert.equal(now?.metadata.resourceVersion, request?.metadata.resourceVersion);
});
