// SPDX-License-Identifier: Apache-2.0
/** What `countersign inspect` notes about requests without a certificate. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  withDenied,
  withFailed,
  type PodCertificateRequest,
} from '#api/request/pod-certificate-request.ts';
import { readerOf, type ObjectMaterials } from '#cli/sources/cluster-objects.ts';
import type { Subject } from '#diagnose/explain/lookup/reading.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { recordedClient, type RecordedClient } from '../support/kube/recorded-client.ts';
import { podRequest } from '../support/requests/pod-certificate-request.ts';
import { certificateRequest } from '../support/requests/certificate-request.ts';

const V1 = '/apis/certificates.k8s.io/v1';
const SIGNER = 'example.com/workload';
const LEGACY = { name: 'legacy', namespace: 'team-a', uid: podRequest().spec.podUID };
const volumes = [
  { name: 'own', projected: { sources: [{ podCertificate: { signerName: SIGNER } }] } },
];

/** Returns a request of the pod `legacy`, made in this minute. */
function request(minute: number, more: Partial<PodCertificateRequest> = {}): PodCertificateRequest {
  const made = podRequest({ podName: 'legacy' });
  const metadata = {
    ...made.metadata,
    name: `legacy-${minute}`,
    creationTimestamp: `2026-11-21T06:0${minute}:00Z`,
  };
  return { ...made, ...more, metadata };
}

function denied(minute: number): PodCertificateRequest {
  const denial = { reason: 'UnsupportedKeyType', message: 'RSA2048 is not allowed' } as const;
  return withDenied(request(minute), denial, 0);
}

/** Returns the notes and the sources of a pod with these requests. */
async function inspected(
  requests: readonly PodCertificateRequest[],
): Promise<{ readonly notes: string; readonly sources: readonly string[] }> {
  const client = recordedClient();
  client.answer(({ path }) => {
    if (path === V1) return { resources: [{ name: 'podcertificaterequests' }] };
    if (path.endsWith('/pods/legacy')) return { metadata: LEGACY, spec: { volumes } };
    if (path.endsWith('/podcertificaterequests'))
      return { kind: 'List', metadata: {}, items: requests };
    throw new KubeError({ status: 404, what: path });
  });
  const found = await read(client, { kind: 'pod', name: 'legacy', namespace: 'team-a' });
  return { notes: found.notes.join('\n'), sources: found.materials.map(({ source }) => source) };
}

function read(client: RecordedClient, subject: Subject): Promise<ObjectMaterials> {
  const reader = readerOf(subject.kind);
  assert.ok(reader);
  return reader(client, subject);
}

const EXPLAIN = 'countersign explain pod/legacy -n team-a';

test('a pod whose newest request was denied has the reason, not "none is left"', async () => {
  const { notes } = await inspected([denied(2), denied(1)]);
  assert.match(
    notes,
    /^pcr\/legacy-2 of example\.com\/workload has no certificate: it is Denied: /,
  );
  assert.match(notes, /UnsupportedKeyType: RSA2048 is not allowed/);
  assert.ok(notes.includes(EXPLAIN), notes);
  assert.doesNotMatch(notes, /is left|--port/);
});

test('a pod whose newest request failed has the reason', async () => {
  const failed = withFailed(request(1), { reason: 'SignerGone', message: 'no CA' }, 0);
  const { notes } = await inspected([failed]);
  assert.match(notes, /it is Failed: SignerGone: no CA/);
});

test('a pod whose newest request waits is told apart from one without requests', async () => {
  const { notes } = await inspected([denied(1), request(2)]);
  assert.match(notes, /legacy-2 .* has no certificate yet: it still waits/);
  assert.ok(notes.includes(EXPLAIN), notes);
});

test('a pod without requests has the note that the API server deletes them', async () => {
  const { notes } = await inspected([]);
  assert.match(notes, /no PodCertificateRequest of example\.com\/workload is left/);
});

test('a certificate is shown also if a newer request was denied, which has a note', async () => {
  const issued = request(1, { status: { certificateChain: 'PEM' } });
  const { notes, sources } = await inspected([denied(2), issued]);
  assert.ok(sources.includes('pcr/legacy-1 status.certificateChain'), sources.join());
  assert.match(notes, /legacy-2 .* it is Denied/);
  assert.equal((await inspected([denied(1), request(2, issued)])).notes, '');
});

for (const [kind, object, flag] of [
  ['pcr', denied(1), ' -n team-a'],
  ['csr', { spec: { request: '', signerName: SIGNER }, status: denied(1).status }, ''],
  ['certificaterequest', { ...certificateRequest({}), status: denied(1).status }, ' -n team-a'],
] as const)
  test(`a ${kind} that was denied does not wait for a certificate`, async () => {
    const client = recordedClient();
    client.answer(({ path }) =>
      path === V1 ? { resources: [{ name: 'podcertificaterequests' }] } : object,
    );
    const { notes } = await read(client, { kind, name: 'legacy-1', namespace: 'team-a' });
    assert.match(notes.join(), /has no certificate: it is Denied: UnsupportedKeyType: RSA2048/);
    assert.ok(notes.join().includes(`countersign explain ${kind}/legacy-1${flag} `), notes.join());
  });

test('a CertificateRequest that is not Ready because it failed does not wait', async () => {
  const client = recordedClient();
  const ready = { type: 'Ready', status: 'False', reason: 'Failed', message: 'no such rule' };
  client.answer(() => ({ ...certificateRequest({}), status: { conditions: [ready] } }));
  const subject = { kind: 'certificaterequest', name: 'web', namespace: 'a' };
  const { notes } = await read(client, subject);
  assert.match(notes.join(), /it is Failed: no such rule/);
});
