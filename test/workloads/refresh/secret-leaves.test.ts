// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { before, test } from 'node:test';
import type { Secret } from '#api/object/object.ts';
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import type { CertManagerCertificate } from '#api/workload/certificate.ts';
import { issuedRequest, type IssuedRequest } from '#workloads/refresh/credentials/leaf.ts';
import { SecretLeaves } from '#workloads/refresh/credentials/secret-leaves.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

const READY_AT = '2026-01-05T12:00:00Z';
const pems: string[] = [];
/** By node:crypto, not by our decoder. */
const hashOf = (pem: string): string =>
  createHash('sha256').update(new X509Certificate(pem).raw).digest('hex');

before(async () => {
  for (const name of ['one', 'two']) pems.push((await tlsCertificate(name)).cert);
});

function certificate(revision?: number, name = 'web'): CertManagerCertificate {
  return {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: metadata(name),
    spec: { secretName: 'web-tls' },
    ...(revision === undefined ? {} : { status: { revision } }),
  };
}

function metadata(
  name: string,
  annotations: Record<string, string> = {},
): CertificateRequest['metadata'] {
  const creationTimestamp = '2026-01-05T11:00:00Z';
  return {
    namespace: 'team-a',
    name,
    uid: name,
    resourceVersion: '1',
    creationTimestamp,
    annotations,
  };
}

/** As `metav1.NewControllerRef` makes it for cert-manager. */
const CONTROLLER = {
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  name: 'web',
  uid: 'web',
  controller: true,
  blockOwnerDeletion: true,
};

function request(
  revision: number,
  pem: string,
  more: Partial<CertificateRequest['status']> = {},
  meta: object = {},
): IssuedRequest {
  const annotations = {
    'cert-manager.io/certificate-name': 'web',
    'cert-manager.io/certificate-revision': String(revision),
  };
  const owned = { ownerReferences: [CONTROLLER] };
  return issuedRequest({
    apiVersion: 'cert-manager.io/v1',
    kind: 'CertificateRequest',
    metadata: { ...metadata(`web-${revision}`, annotations), ...owned, ...meta },
    spec: { request: '', issuerRef: { name: 'ca' } },
    status: {
      conditions: [
        { type: 'Approved', status: 'True' },
        { type: 'Ready', status: 'True', reason: 'Issued', lastTransitionTime: READY_AT },
      ],
      certificate: Buffer.from(pem).toString('base64'),
      ...more,
    },
  });
}

function leaves(revision: number | undefined, ...requests: readonly IssuedRequest[]): SecretLeaves {
  const index = new SecretLeaves();
  index.onCertificate('team-a/web', certificate(revision), undefined);
  for (const each of requests) index.onRequest(each, undefined);
  return index;
}

test('a Secret’s certificate is that of the revision that cert-manager wrote', () => {
  const [one = '', two = ''] = pems;
  const index = leaves(1, request(1, one), request(2, two));
  const found = index.of('team-a', 'web-tls');
  assert.ok(found.kind === 'known' && found.leaf.hash === hashOf(one));
  assert.equal(found.leaf.issuedAt, Date.parse(READY_AT));
  assert.ok(found.leaf.isFirst);
  index.onCertificate('team-a/web', certificate(2), certificate(1));
  const next = index.of('team-a', 'web-tls');
  assert.ok(next.kind === 'known' && next.leaf.hash === hashOf(two) && !next.leaf.isFirst);
});

test('the write of the revision dates the Secret, and no other write does', () => {
  const [one = ''] = pems;
  const status = { 'f:status': { '.': {}, 'f:revision': {} } };
  const other = { 'f:status': { 'f:conditions': {} } };
  const storedAt = (managedFields: readonly object[]): number | undefined => {
    const index = leaves(1, request(1, one));
    const { metadata, ...rest } = certificate(1);
    const written = { ...rest, metadata: { ...metadata, managedFields } };
    index.onCertificate('team-a/web', written, certificate(1));
    const found = index.of('team-a', 'web-tls');
    assert.ok(found.kind === 'known');
    return found.leaf.storedAt;
  };
  const [issued, late] = ['2026-01-05T12:00:02Z', '2026-01-05T12:30:00Z'];
  const issuing = { manager: 'cert-manager-certificates-issuing', fieldsV1: status };
  assert.equal(storedAt([{ ...issuing, time: issued }]), Date.parse(issued));
  const readiness = { manager: 'cert-manager-certificates-readiness', fieldsV1: other };
  const both = [
    { ...issuing, time: issued },
    { ...readiness, time: late },
  ];
  assert.equal(storedAt(both), Date.parse(issued));
  const again = { ...issuing, manager: 'another', time: late };
  assert.equal(storedAt([{ ...issuing, time: issued }, again]), Date.parse(late), 'the newest');
  assert.equal(storedAt([]), undefined);
  assert.equal(storedAt([{ ...issuing, time: '2026-01-05T11:00:00Z' }]), undefined, 'too early');
});

test('knows the previous certificate’s remaining validity while its request exists', () => {
  const [one = '', two = ''] = pems;
  const found = leaves(2, request(1, one), request(2, two)).of('team-a', 'web-tls');
  const ends = new X509Certificate(one).validToDate.getTime();
  assert.ok(found.kind === 'known');
  assert.equal(found.leaf.remaining, Math.max(0, ends - Date.parse(READY_AT)));
});

test('a request that is not approved, not ready or has no certificate tells nothing', () => {
  const [one = ''] = pems;
  for (const status of [
    { conditions: [{ type: 'Approved', status: 'True' } as const] },
    { conditions: [{ type: 'Ready', status: 'True' } as const] },
    { certificate: Buffer.from('nothing').toString('base64') },
  ]) {
    assert.equal(leaves(1, request(1, one, status)).of('team-a', 'web-tls').kind, 'unknown');
  }
});

test('a Secret without an issued Certificate is not cert-manager’s', () => {
  assert.equal(leaves(undefined).of('team-a', 'web-tls').kind, 'foreign');
  assert.equal(new SecretLeaves().of('team-a', 'web-tls').kind, 'foreign');
  const index = leaves(1, request(1, pems[0] ?? ''));
  assert.equal(index.of('team-b', 'web-tls').kind, 'foreign', 'another namespace');
  index.onCertificate('team-a/web', undefined, certificate(1));
  assert.equal(index.of('team-a', 'web-tls').kind, 'foreign', 'the Certificate is deleted');
});

test('two Certificates with one Secret are nobody’s certificate', () => {
  const index = leaves(1, request(1, pems[0] ?? ''));
  index.onCertificate('team-a/web2', certificate(1, 'web2'), undefined);
  assert.equal(index.of('team-a', 'web-tls').kind, 'unknown');
});

test('without its request, a readable Secret of cert-manager counts itself', () => {
  const [one = ''] = pems;
  const index = leaves(1, request(1, one));
  index.onRequest(undefined, request(1, one));
  const unknown = index.of('team-a', 'web-tls');
  assert.ok(unknown.kind === 'unknown' && unknown.message.includes('--secret=team-a/web-tls'));
  const secret = (annotations: Record<string, string>): Secret => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadata('web-tls', annotations),
    data: { 'tls.crt': Buffer.from(one).toString('base64') },
  });
  index.onSecret('team-a/web-tls', secret({}));
  assert.equal(index.of('team-a', 'web-tls').kind, 'unknown', 'not issued by cert-manager');
  index.onSecret('team-a/web-tls', secret({ 'cert-manager.io/certificate-name': 'web' }));
  const found = index.of('team-a', 'web-tls');
  assert.ok(found.kind === 'known' && found.leaf.hash === hashOf(one));
  const created = Date.parse('2026-01-05T11:00:00Z');
  assert.equal(found.leaf.storedAt, created);
  assert.equal(found.leaf.writtenBy, created + 60_000, 'room for the clock of a node');
  index.onSecret('team-a/web-tls', undefined);
  assert.equal(index.of('team-a', 'web-tls').kind, 'unknown');
});

test('a deleted request takes nothing away from the one that has its revision now', () => {
  const [one = '', two = ''] = pems;
  const [first, again] = [request(1, one), request(1, two, {}, { uid: 'again' })];
  const index = leaves(1, first);
  index.onRequest(again, undefined);
  index.onRequest(undefined, first);
  const found = index.of('team-a', 'web-tls');
  assert.ok(found.kind === 'known' && found.leaf.hash === hashOf(two));
});

test('a request not controlled by a Certificate of its namespace counts for no Secret', () => {
  const [one = '', two = ''] = pems;
  const later = { uid: 'foreign', creationTimestamp: '2026-01-05T13:00:00Z' };
  const earlier = { uid: 'foreign', creationTimestamp: '2026-01-05T10:00:00Z' };
  for (const [what, meta] of [
    ['no owner', { ...earlier, ownerReferences: [] }],
    ['an owner that is not the controller', ownedBy({ controller: false })],
    ['another Certificate', ownedBy({ uid: 'web-of-old' })],
    ['another kind', ownedBy({ kind: 'Issuer' })],
    ['another group', ownedBy({ apiVersion: 'example.com/v1' })],
    ['another namespace', { ...earlier, namespace: 'team-b' }],
    ['made later, for the same revision', later],
  ] as const) {
    const [own, foreign] = [request(2, one), request(2, two, {}, meta)];
    for (const order of [[own, foreign] as const, [foreign, own] as const]) {
      const found = leaves(2, request(1, one), ...order).of('team-a', 'web-tls');
      assert.ok(found.kind === 'known' && found.leaf.hash === hashOf(one), what);
    }
  }
  function ownedBy(other: object): object {
    return { ...earlier, ownerReferences: [{ ...CONTROLLER, ...other }] };
  }
});

test('counts a request that was issued while watched, until its deletion', () => {
  const [one = ''] = pems;
  const waiting = request(1, one, { conditions: [] });
  const index = leaves(1, waiting);
  assert.equal(index.of('team-a', 'web-tls').kind, 'unknown');
  index.onRequest(request(1, one), waiting);
  assert.equal(index.of('team-a', 'web-tls').kind, 'known');
  index.onRequest(undefined, request(1, one));
  assert.equal(index.of('team-a', 'web-tls').kind, 'unknown');
});
