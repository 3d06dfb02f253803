// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodCertificateRequest } from '../../src/api/request/pod-certificate-request.ts';
import type { PodsSpec } from '../../src/api/signer/cluster-signer.ts';
import { EMPTY_SUBJECT } from '../../src/issuance/leaf-subject.ts';
import { podSubject, podVariables } from '../../src/issuance/pod-subject.ts';
import { podRequest } from '../support/requests/pod-certificate-request.ts';
import { refuses } from '../support/pki/refuses.ts';
import type { LeafSubject } from '../../src/vocabulary.ts';
import { compilePodProfile } from '../../src/issuance/pod-profile.ts';

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

test('a leaf has the names that the ClusterSigner’s expressions make of the pod, and no others', () => {
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

test('every field of the pod is there to be used', () => {
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

test('names come out canonical, each once; empty ones do not count', () => {
  const found = subjectOf({
    uris: ["'SPIFFE://Cluster.Local/ns/A'", "''", "'spiffe://cluster.local/ns/A'"],
    dnsNames: ["'WEB.Example'", "'web.example'"],
  });
  assert.deepEqual(found.uris, ['spiffe://cluster.local/ns/A']);
  assert.deepEqual(found.dnsNames, ['web.example']);
});

for (const name of ['system:masters', 'kubeadm:cluster-admins', 'SYSTEM:node:a', ' system:x']) {
  test(`a pod never becomes "${name}"`, () => {
    waits(
      () => subjectOf({ commonName: `'${name}'` }),
      'NAME_RESERVED',
      /spec\.pods\.commonName evaluates to ".*", a name that is reserved for Kubernetes/,
    );
  });
}

for (const name of ['web ', 'we\u200bb', 'we\ufe0fb', 'we\u0000b', '\u2007web']) {
  test(`a pod’s name looks like itself: ${JSON.stringify(name)} is nobody’s`, () => {
    const request = podRequest({ unverifiedUserAnnotations: { 'example.com/who': name } });
    const spec = {
      commonName: "pod.annotations['example.com/who']",
      annotations: [{ key: 'example.com/who', pattern: '.*' }],
    };
    waits(() => subjectOf(spec, request), 'NAME_INVALID', /^spec\.pods\.commonName: /);
  });
}

test('what the operator reserves is reserved too', () => {
  const run = (): LeafSubject => subjectOf({ commonName: "'corp:root'" }, podRequest(), ['corp:']);
  waits(run, 'NAME_RESERVED', /"corp:root"/);
});

for (const [what, uri] of [
  ['.. segments', 'spiffe://cluster.local/ns/team-a/../team-b'],
  ['empty segments', 'spiffe://cluster.local/ns//web'],
  ['escaped slashes', 'spiffe://cluster.local/ns/a%2fb'],
  ['a query', 'spiffe://cluster.local/ns/a?x=1'],
] as const) {
  test(`a SPIFFE ID with ${what} is nobody’s: two readers would see two pods`, () => {
    waits(
      () => subjectOf({ uris: ["'spiffe://cluster.local/ok'", `'${uri}'`] }),
      'NAME_INVALID',
      /^spec\.pods\.uris\[1\]: the (?:SPIFFE ID|URI) /,
    );
  });
}

test('a pod’s annotation cannot smuggle a second name into an expression’s result', () => {
  const request = podRequest({
    unverifiedUserAnnotations: { 'example.com/host': 'a.example,admin.example' },
  });
  const spec = {
    dnsNames: ["pod.annotations['example.com/host']"],
    annotations: [{ key: 'example.com/host', pattern: '.*' }],
  };
  waits(() => subjectOf(spec, request), 'NAME_INVALID', /^spec\.pods\.dnsNames\[0\]: /);
});

test('annotations that the signer does not know do not exist for expressions', () => {
  const request = podRequest({ unverifiedUserAnnotations: { 'example.com/other': 'x' } });
  const found = subjectOf(
    { commonName: "'example.com/other' in pod.annotations ? 'seen' : 'unseen'" },
    request,
  );
  assert.equal(found.commonName, 'unseen');
});

test('an expression that fails waits for its ClusterSigner to be mended', () => {
  waits(
    () => subjectOf({ commonName: "pod.annotations['example.com/missing']" }),
    'CEL_EVALUATION',
    /spec\.pods\.commonName/,
  );
});

test('expressions that give nothing give no leaf', () => {
  waits(
    () => subjectOf({ uris: ["''"] }),
    'NAME_INVALID',
    /expressions of spec\.pods yield no name for this pod/,
  );
  waits(() => subjectOf({}), 'NAME_INVALID', /yield no name for this pod/);
});
