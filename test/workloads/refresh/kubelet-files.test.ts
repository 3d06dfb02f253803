// SPDX-License-Identifier: Apache-2.0
/**
 * Credentials that the kubelet rewrites: only workloads that cannot read them again are restarted.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { Pod } from '#api/object/pod.ts';
import { formatTime } from '#api/object/time.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { Workload } from '#api/workload/workload.ts';
import { PodCertificates } from '#workloads/refresh/credentials/pod-certificates.ts';
import { ClusterView } from '#workloads/refresh/cluster-view.ts';
import type { RestartState } from '#workloads/refresh/restart-state.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';
import { podOf, START, workloadOf } from './world.ts';

const SIGNER = 'example.com/workload';
const BUNDLE = 'example.com:workload:primary';
const HOUR = 3_600_000;
const TIMES = { debounceMs: 0, window: undefined };
const pems: string[] = [];

before(async () => {
  for (const name of ['one', 'two']) pems.push((await tlsCertificate(name)).cert);
});

const SOURCES: readonly object[] = [
  { podCertificate: { signerName: SIGNER } },
  { clusterTrustBundle: { name: BUNDLE } },
];

function viewOf(mode: string, clock: { now: number }, sources = SOURCES): ClusterView {
  const view = new ClusterView(() => clock.now);
  const base = workloadOf({ namespace: 'team-a', name: 'web', secrets: [], mode });
  const workload: Workload = {
    ...base,
    spec: {
      ...base.spec,
      template: {
        spec: {
          volumes: [{ name: 'identity', projected: { sources } }],
          containers: [{ volumeMounts: [{ name: 'identity' }] }],
        },
      },
    },
  };
  const { metadata } = workload;
  const labels = { 'countersign.dev/refresh': 'enabled' };
  const namespace = { ...metadata, name: 'team-a', labels };
  view.seen.namespaces(
    'team-a',
    { apiVersion: 'v1', kind: 'Namespace', metadata: namespace },
    undefined,
  );
  view.seen.workloads('team-a/web', workload, undefined);
  return view;
}

function request(at: number, pem: string | undefined): PodCertificateRequest {
  const { metadata } = podOf(`request-${at}`, at);
  const times = { notBefore: formatTime(at), notAfter: formatTime(at + 24 * HOUR) };
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'PodCertificateRequest',
    metadata: { ...metadata, namespace: 'team-a' },
    spec: {
      signerName: SIGNER,
      podName: 'web-1',
      podUID: 'u1',
      nodeName: 'n',
      nodeUID: 'n',
      serviceAccountName: 'web',
      serviceAccountUID: 's',
    },
    status:
      pem === undefined
        ? { conditions: [{ type: 'Denied', status: 'True', message: 'not allowed' }] }
        : { certificateChain: pem, ...times },
  };
}

function bundle(pem: string): ClusterTrustBundle {
  const { metadata } = podOf(BUNDLE, START);
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata,
    spec: { signerName: SIGNER, trustBundle: pem },
  };
}

const state = (view: ClusterView): RestartState =>
  view.states(TIMES).states[0] ?? assert.fail('it did not opt in');

/** With what its pods have; without pods by its template alone. */
function changesOf(view: ClusterView, pods: readonly Pod[] = []): RestartState['changes'] {
  const found = state(view);
  return (found.own?.with(found.own.find(pods)) ?? found).changes;
}

test('anchors that change while it looks count, anchors that were there do not', () => {
  const clock = { now: START + HOUR };
  const view = viewOf('restart', clock);
  const [one = '', two = ''] = pems;
  view.seen.bundles(BUNDLE, bundle(one), undefined);
  assert.equal(changesOf(view).length, 0);
  view.seen.bundles(BUNDLE, bundle(`# a comment\n${one}`), bundle(one));
  assert.equal(changesOf(view).length, 0, 'a comment is no anchor');
  clock.now += HOUR;
  view.seen.bundles(BUNDLE, bundle(`${one}${two}`), bundle(one));
  const [change] = changesOf(view);
  assert.equal(change?.credential, `bundle/${BUNDLE}`);
  assert.equal(change.leaf.issuedAt, clock.now);
});

test('a pod is endangered only while the request after its newest credential is denied', () => {
  const clock = { now: START + 13 * HOUR };
  const view = viewOf('secrets', clock);
  const [one = '', two = ''] = pems;
  view.seen.podCertificateRequests('', request(START, one), undefined);
  assert.deepEqual(view.endangered(), []);
  view.seen.podCertificateRequests('', request(START + 12 * HOUR, undefined), undefined);
  const [pod] = view.endangered();
  assert.equal(pod?.uid, 'u1');
  assert.equal(pod.notAfter, START + 24 * HOUR);
  assert.equal(pod.message, 'not allowed');
  clock.now = START + 24 * HOUR;
  assert.deepEqual(view.endangered(), [], 'it has ended');
  clock.now = START + 13 * HOUR;
  view.seen.podCertificateRequests('', request(START + 12.5 * HOUR, two), undefined);
  assert.deepEqual(view.endangered(), [], 'it was renewed after all');
});

test('pods of another namespace displace no credential and no denial', () => {
  const now = START + 13 * HOUR;
  const certificates = new PodCertificates(8);
  const [one = ''] = pems;
  const others = (at: number, pem?: string): void => {
    for (let index = 0; index < 20; index += 1) {
      const { metadata, spec, ...rest } = request(at, pem);
      const elsewhere = { ...metadata, namespace: 'ci' };
      const pod = { ...spec, podUID: `ci-${index}` };
      certificates.onRequest({ ...rest, metadata: elsewhere, spec: pod }, now);
    }
  };
  const endangered = (): readonly string[] =>
    certificates
      .endangered(now)
      .filter(({ namespace }) => namespace === 'team-a')
      .map(({ uid }) => uid);
  certificates.onRequest(request(START, one), now);
  others(START, one);
  certificates.onRequest(request(START + 12 * HOUR, undefined), now);
  others(START + 12 * HOUR);
  assert.deepEqual(endangered(), ['u1']);
});

test('a request of another namespace says nothing of a pod, whatever UID it has', () => {
  const view = viewOf('secrets', { now: START + 13 * HOUR });
  const [one = '', two = ''] = pems;
  const forged = (at: number, pem?: string): void => {
    const { metadata, ...rest } = request(at, pem);
    const elsewhere = { ...metadata, namespace: 'team-b' };
    view.seen.podCertificateRequests('', { ...rest, metadata: elsewhere }, undefined);
  };
  view.seen.podCertificateRequests('', request(START, one), undefined);
  forged(START + 12 * HOUR);
  assert.deepEqual(view.endangered(), [], 'denied elsewhere');
  view.seen.podCertificateRequests('', request(START + 12 * HOUR, undefined), undefined);
  forged(START + 12.5 * HOUR, two);
  assert.equal(view.endangered().length, 1, 'issued elsewhere');
});

test('finds existing bundles by their name, or by their signer and labels', () => {
  const clock = { now: START + HOUR };
  const [one = '', two = ''] = pems;
  for (const [source, isFound] of [
    [{ name: BUNDLE }, true],
    [{ signerName: SIGNER, labelSelector: {} }, true],
    [{ signerName: SIGNER }, false],
    [{ signerName: SIGNER, labelSelector: { matchLabels: { tier: 'a' } } }, false],
    [{ signerName: 'example.com/other', labelSelector: {} }, false],
    [{ name: 'other' }, false],
  ] as const) {
    const view = viewOf('restart', clock, [{ clusterTrustBundle: source }]);
    view.seen.bundles(BUNDLE, bundle(one), undefined);
    view.seen.bundles(BUNDLE, bundle(two), bundle(one));
    const what = JSON.stringify(source);
    assert.equal(changesOf(view).length, isFound ? 1 : 0, what);
    view.seen.bundles(BUNDLE, undefined, bundle(two));
    assert.equal(changesOf(view).length, 0, `${what}, deleted`);
  }
});
