// SPDX-License-Identifier: Apache-2.0
/** Whether verifiers still accept what a pod holds. What cannot be seen is never called trusted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/object/pod.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { Revocation } from '#api/revocation/revocation.ts';
import { leafTrust, type LeafTrust } from '#operations/pods/leaf-trust.ts';
import { encodePem } from '#pki/der/pem.ts';
import { serialText } from '#ca/revocation/serial.ts';
import { link, type Link } from '../support/pki/chain.ts';
import { HOUR, LINKS, MINUTE, at, print, state, type Name } from './signer-states.ts';

const SIGNER = 'example.com/workload';

function pod(age: number, projections = 1): Pod {
  const source = { podCertificate: { signerName: SIGNER } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'team-a',
      name: 'web',
      uid: 'web',
      resourceVersion: '1',
      creationTimestamp: at(-age),
    },
    spec: {
      volumes: [{ projected: { sources: Array.from({ length: projections }, () => source) } }],
    },
    status: { phase: 'Running', startTime: at(-age) },
  };
}

const leafOf = (by: Name): Link => link(`leaf of ${by}`, { by: LINKS[by] });

function issued(leaf: Link, age: number, uid = 'web'): PodCertificateRequest {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'PodCertificateRequest',
    metadata: {
      namespace: 'team-a',
      name: `r-${age}`,
      uid: `r-${age}`,
      resourceVersion: '1',
      creationTimestamp: at(-age),
    },
    spec: { signerName: SIGNER, podName: 'web', podUID: uid },
    status: { certificateChain: encodePem('CERTIFICATE', leaf.certificate.raw) },
  } as unknown as PodCertificateRequest;
}

const revocation = (serial: string): Revocation => ({
  apiVersion: 'countersign.dev/v1alpha1',
  kind: 'Revocation',
  metadata: { name: 'stolen', uid: 'x', resourceVersion: '1', creationTimestamp: at(0) },
  spec: { signerName: SIGNER, reason: 'keyCompromise', certificates: [{ serial }] },
});

const HEALTHY = state();
/**
 * `a` was distrusted: it stopped signing twelve hours ago (its last leaf of 24 hours ends in
 * twelve), and `b` signs.
 */
const AFTER_DISTRUST = state({ authorities: { a: 'Distrusted', b: 'Active' }, served: { b: 60 } });

function judge(
  of: Pod,
  signer = HEALTHY,
  requests: readonly PodCertificateRequest[] = [],
  revocations: readonly Revocation[] = [],
): LeafTrust {
  return leafTrust(of, { state: signer, requests, revocations });
}

test('a leaf whose path leads to the published bundle is trusted', () => {
  assert.equal(judge(pod(MINUTE), HEALTHY, [issued(leafOf('a'), MINUTE)]).kind, 'trusted');
});

test('a leaf of a CA whose anchor left the bundle is untrusted, and its CA is named', () => {
  const found = judge(pod(MINUTE), AFTER_DISTRUST, [issued(leafOf('a'), MINUTE)]);
  assert.ok(found.kind === 'untrusted');
  assert.equal(found.authority, print('a'));
});

test('a leaf of a CA that is in the status no more is untrusted all the same', () => {
  const found = judge(pod(MINUTE), HEALTHY, [issued(leafOf('c'), MINUTE)]);
  assert.ok(found.kind === 'untrusted');
  assert.equal(found.authority, undefined);
});

test('the newest leaf of a pod counts, and no other pod’s', () => {
  const old = issued(leafOf('a'), 10 * MINUTE);
  const renewed = issued(leafOf('b'), MINUTE);
  assert.equal(judge(pod(HOUR), AFTER_DISTRUST, [renewed, old]).kind, 'trusted');
  const others = issued(leafOf('b'), MINUTE, 'another');
  assert.equal(judge(pod(HOUR), AFTER_DISTRUST, [others, old]).kind, 'untrusted');
});

test('a leaf whose serial number a Revocation has is revoked, however it is written', () => {
  const leaf = leafOf('a');
  const serial = serialText(leaf.certificate.serial);
  for (const text of [serial, serial.toUpperCase(), `00${serial}`]) {
    const found = judge(pod(MINUTE), HEALTHY, [issued(leaf, MINUTE)], [revocation(text)]);
    assert.equal(found.kind, 'revoked', text);
  }
  const other = judge(pod(MINUTE), HEALTHY, [issued(leaf, MINUTE)], [revocation('0badcafe')]);
  assert.equal(other.kind, 'trusted');
});

test('without its request, a pod that ran before the CA stopped may hold its leaf', () => {
  const before = judge(pod(13 * HOUR), AFTER_DISTRUST);
  assert.ok(before.kind === 'doubtful');
  assert.equal(before.authority, print('a'));
  // A kubelet asked after the CA had stopped.
  assert.equal(judge(pod(11 * HOUR), AFTER_DISTRUST).kind, 'unknown');
});

test('a request does not tell which of two projections of a signer has the other leaf', () => {
  const renewed = [issued(leafOf('b'), MINUTE)];
  assert.equal(judge(pod(13 * HOUR, 2), AFTER_DISTRUST, renewed).kind, 'doubtful');
});

test('what nothing shows is unknown, and never trusted', () => {
  assert.equal(judge(pod(HOUR)).kind, 'unknown');
  const unread = { ...HEALTHY, bundle: 'unread' as const };
  assert.equal(judge(pod(MINUTE), unread, [issued(leafOf('a'), MINUTE)]).kind, 'unknown');
  const garbled = issued(leafOf('a'), MINUTE);
  const broken = { ...garbled, status: { certificateChain: 'garbage' } };
  assert.equal(judge(pod(MINUTE), HEALTHY, [broken]).kind, 'unknown');
});
