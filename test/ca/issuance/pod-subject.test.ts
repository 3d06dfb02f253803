// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { PodsSpec } from '#api/signer/cluster-signer.ts';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import { podSubject, podVariables } from '#ca/issuance/pod-subject.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { refuses } from '../../support/pki/refuses.ts';
import type { LeafSubject } from '#base/vocabulary.ts';
import { compilePodProfile } from '#ca/issuance/pod-profile.ts';

/** The names of pod team-a/web-0 by these expressions. */
function subjectOf(
  spec: Partial<PodsSpec>,
  request: PodCertificateRequest = podRequest(),
  reserved: readonly string[] = [],
): LeafSubject {
  const profile = compilePodProfile({ allow: 'true', ...spec });
  return podSubject(profile, podVariables(request, profile), reserved);
}

const waits = (run: () => unknown, code: Parameters<typeof refuses>[1], message: RegExp): void =>
  refuses(run, code, message, 'wait');

test('a leaf has the names that the ClusterSigner’s expressions give, and no others', () => {
  const found = subjectOf({
    uris: ["'spiffe://cluster.local/ns/' + pod.namespace + '/sa/' + pod.serviceAccount"],
    dnsNames: ["pod.name + '.' + pod.namespace + '.svc'"],
    commonName: 'pod.name',
  });
  assert.deepEqual(found, {
    ...EMPTY_SUBJECT,
    commonName: 'web-0',
    uris: ['spiffe://cluster.local/ns/team-a/sa/web'],
    dnsNames: ['web-0.team-a.svc'],
  });
});

test('expressions can use every field of the pod', () => {
  const { spec } = podRequest();
  const fields = {
    namespace: 'team-a',
    name: spec.podName,
    uid: spec.podUID,
    serviceAccount: spec.serviceAccountName,
    serviceAccountUID: spec.serviceAccountUID,
    node: spec.nodeName,
    nodeUID: spec.nodeUID,
  };
  for (const [field, value] of Object.entries(fields)) {
    assert.equal(subjectOf({ commonName: `pod.${field}` }).commonName, value);
  }
});

test('names are canonical and without duplicates; empty ones are omitted', () => {
  const found = subjectOf({
    uris: ["'SPIFFE://Cluster.Local/ns/A'", "''", "'spiffe://cluster.local/ns/A'"],
    dnsNames: ["'WEB.Example'", "'web.example'"],
  });
  assert.deepEqual(found.uris, ['spiffe://cluster.local/ns/A']);
  assert.deepEqual(found.dnsNames, ['web.example']);
});

for (const name of ['system:masters', 'kubeadm:cluster-admins', 'SYSTEM:node:a', ' system:x']) {
  test(`no pod gets the reserved name "${name}"`, () => {
    waits(
      () => subjectOf({ commonName: `'${name}'` }),
      'NAME_RESERVED',
      /spec\.pods\.commonName evaluates to ".*", a name that is reserved for Kubernetes/,
    );
  });
}

for (const name of ['web ', 'we\u200bb', 'we\ufe0fb', 'we\u0000b', '\u2007web']) {
  test(`a name with misleading characters is refused: ${JSON.stringify(name)}`, () => {
    const request = podRequest({ unverifiedUserAnnotations: { 'example.com/who': name } });
    const spec = {
      commonName: "pod.annotations['example.com/who']",
      annotations: [{ key: 'example.com/who', pattern: '.*' }],
    };
    waits(() => subjectOf(spec, request), 'NAME_INVALID', /^spec\.pods\.commonName: /);
  });
}

test('names that the operator reserves are refused', () => {
  const run = (): LeafSubject => subjectOf({ commonName: "'corp:root'" }, podRequest(), ['corp:']);
  waits(run, 'NAME_RESERVED', /"corp:root"/);
});

for (const [what, uri] of [
  ['.. segments', 'spiffe://cluster.local/ns/team-a/../team-b'],
  ['empty segments', 'spiffe://cluster.local/ns//web'],
  ['escaped slashes', 'spiffe://cluster.local/ns/a%2fb'],
  ['a query', 'spiffe://cluster.local/ns/a?x=1'],
] as const) {
  test(`a SPIFFE ID with ${what} is refused: two parsers could read two pods`, () => {
    waits(
      () => subjectOf({ uris: ["'spiffe://cluster.local/ok'", `'${uri}'`] }),
      'NAME_INVALID',
      /^spec\.pods\.uris\[1\]: the (?:SPIFFE ID|URI) /,
    );
  });
}

test('a value of an annotation cannot add a second name to an expression’s result', () => {
  const request = podRequest({
    unverifiedUserAnnotations: { 'example.com/host': 'a.example,admin.example' },
  });
  const spec = {
    dnsNames: ["pod.annotations['example.com/host']"],
    annotations: [{ key: 'example.com/host', pattern: '.*' }],
  };
  waits(() => subjectOf(spec, request), 'NAME_INVALID', /^spec\.pods\.dnsNames\[0\]: /);
});

test('expressions see only annotations that the signer declares', () => {
  const request = podRequest({ unverifiedUserAnnotations: { 'example.com/other': 'x' } });
  const found = subjectOf(
    { commonName: "'example.com/other' in pod.annotations ? 'seen' : 'unseen'" },
    request,
  );
  assert.equal(found.commonName, 'unseen');
});

test('a request whose expression fails waits until its ClusterSigner changes', () => {
  waits(
    () => subjectOf({ commonName: "pod.annotations['example.com/missing']" }),
    'CEL_EVALUATION',
    /spec\.pods\.commonName/,
  );
});

test('without any name no leaf is issued', () => {
  waits(
    () => subjectOf({ uris: ["''"] }),
    'NAME_INVALID',
    /expressions of spec\.pods yield no name for this pod/,
  );
  waits(() => subjectOf({}), 'NAME_INVALID', /yield no name for this pod/);
});

const SERVED = {
  namespace: 'team-a',
  labels: { app: 'web', tier: 'front' },
  hostname: '',
  subdomain: '',
  ip: '',
  services: [{ name: 'web', isHeadless: false }],
};

function ofPod(spec: Partial<PodsSpec>, pod: Partial<typeof SERVED> = {}): LeafSubject {
  const profile = compilePodProfile({ allow: 'true', ...spec });
  const read = { ...SERVED, ...pod };
  return podSubject(profile, podVariables(podRequest(), profile, read), [], read);
}

const services: PodsSpec['services'] = {
  select: 'All',
  forms: ['ServiceNamespaceSvc'],
  clusterDomain: 'cluster.local',
  required: true,
};

test('names of Services come before those of expressions, each once', () => {
  const dnsNames = ["'web.team-a.svc'", "'other.example'"];
  assert.deepEqual(ofPod({ services, dnsNames }).dnsNames, ['web.team-a.svc', 'other.example']);
});

test('expressions see the names of Services and the listed labels only', () => {
  const commonName = "services[0] + '-' + pod.labels.app";
  assert.equal(ofPod({ services, labels: ['app'], commonName }).commonName, 'web-web');
  const other = "'tier' in pod.labels ? 'seen' : 'hidden'";
  assert.equal(ofPod({ labels: ['app'], commonName: other }).commonName, 'hidden');
});

test('what a spec does not ask for is no variable of its expressions', () => {
  for (const [spec, name] of [
    [{ commonName: 'services[0]' }, /services/],
    [{ commonName: 'pod.labels.app' }, /labels/],
    [{ uris: ['pod.ip'], ipAddresses: ['pod.ip'] }, /ip/],
    [{ services, labels: ['app'], commonName: 'pod.ip' }, /ip/],
  ] as const)
    waits(() => compilePodProfile({ allow: 'true', ...spec }), 'CEL_INVALID', name);
});

test('an address is in the leaf as soon as the pod has one', () => {
  const spec = { commonName: "'x'", ipAddresses: ['pod.ip'] };
  assert.deepEqual(ofPod(spec).ipAddresses, []);
  assert.deepEqual(ofPod(spec, { ip: 'FD00::0001' }).ipAddresses, ['fd00::1']);
  waits(() => ofPod(spec, { ip: 'ten' }), 'NAME_INVALID', /spec\.pods\.ipAddresses\[0\]/);
});
