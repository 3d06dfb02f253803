// SPDX-License-Identifier: Apache-2.0
/** What strangers may write into a request never keeps its record out of the ledger. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { readRecord } from '#ledger/records/record.ts';
import {
  factsOfCsr,
  factsOfPodRequest,
  type RequestFacts,
} from '#requests/recording/request-record.ts';
import { podRequestOf } from '#requests/recording/recorded-pod.ts';
import { issuedRecord } from '../../support/ledger/records.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';

const signer = {
  kind: 'ClusterSigner',
  metadata: { name: 'people', uid: 'signer-uid' },
  spec: { signerName: 'example.com/people' },
} as ClusterSigner;

const POD = 'authentication.kubernetes.io/pod-name';
const NODE = 'authentication.kubernetes.io/node-name';

function asked(
  spec: Partial<CertificateSigningRequest['spec']>,
  approved: { readonly reason?: string; readonly message?: string } = {},
): RequestFacts {
  const csr = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'csr', uid: 'csr-uid' },
    spec: { request: '', signerName: 'example.com/people', username: 'jane', ...spec },
    status: { conditions: [{ type: 'Approved', status: 'True', ...approved }] },
  } as unknown as CertificateSigningRequest;
  return factsOfCsr(csr, signer);
}

/** As the ledger reads it. */
function recorded(facts: RequestFacts): ReturnType<typeof issuedRecord> {
  const { key, at, component, certificate, kind } = issuedRecord(0);
  return readRecord({ kind, key, at, component, certificate, ...facts }) as ReturnType<
    typeof issuedRecord
  >;
}

const LONG = 'x'.repeat(5_000);

test('a user, a group and a UID of any length and any characters are recorded whole', () => {
  const spec = { username: `${LONG}\0`, uid: LONG, groups: ['dev', LONG] };
  const { user } = recorded(asked(spec)).requester;
  assert.deepEqual(user, spec);
});

test('what an approver writes is recorded, cut where it is long', () => {
  const { decision } = recorded(asked({}, { reason: LONG, message: LONG }));
  assert.match(decision?.stated?.reason ?? '', /^x{250}…$/);
  assert.match(decision?.stated?.message ?? '', /^x{1021}…$/);
});

test('text that can be no object’s name names none', () => {
  const account = `system:serviceaccount:${LONG}:web`;
  const extra = { [POD]: [LONG], [NODE]: [LONG] };
  const { user, serviceAccount, pod, node } = recorded(
    asked({ username: account, extra }),
  ).requester;
  assert.deepEqual(
    [user?.username, serviceAccount, pod, node],
    [account, undefined, undefined, undefined],
  );
});

test('a record gives a pod’s request as its kubelet wrote it, without its key', () => {
  const wanted = podRequest({ podName: 'web-1', unverifiedUserAnnotations: { 'a.b/c': 'd' } });
  const facts = factsOfPodRequest(wanted, signer);
  const { stubPKCS10Request: _key, ...spec } = wanted.spec;
  const { name, namespace, uid } = wanted.metadata;
  const read = podRequestOf(recorded(facts));
  assert.deepEqual(read?.spec, { ...spec, signerName: signer.spec.signerName });
  assert.deepEqual([read.metadata.name, read.metadata.namespace], [name, namespace]);
  assert.equal(read.metadata.uid, uid);
});

test('a record that names no pod gives none', () => {
  assert.equal(podRequestOf(recorded(asked({}))), undefined);
});
