// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import { withDenied, withIssued } from '#api/request/pod-certificate-request.ts';
import {
  podStatusBody,
  readPodCertificateRequest,
  UNLESS_ANSWERED,
} from '#api/request/pod-certificate-request-message.ts';
import { envelope, openEnvelope } from '#kube/protobuf/envelope.ts';
import { objectMetaMessage } from '#kube/protobuf/object-meta.ts';
import { bytesField, integerField, message, stringField } from '#kube/protobuf/writer.ts';
import { podRequest, readSent } from '../../support/requests/pod-certificate-request.ts';
import { readPartialObjectMetadata } from '#api/object/object.ts';

/** The real API server's own bytes are read in test/integration/protobuf.test.ts. */
const type = { apiVersion: 'certificates.k8s.io/v1', kind: 'PodCertificateRequest' };
const request = podRequest();
const { metadata, spec } = request;
const NOW = Date.parse('2026-11-21T12:00:00Z');
const CONDITION: Condition = {
  type: 'Issued',
  reason: 'Example',
  message: '',
  status: 'True',
  lastTransitionTime: '2026-11-21T12:00:00Z',
};

const metadataField = bytesField(1, objectMetaMessage(metadata));

/** Field numbers of k8s.io/api certificates/v1, generated.proto. */
function specMessage(...more: readonly Uint8Array[]): Buffer {
  const texts = [
    spec.signerName,
    spec.podName,
    spec.podUID,
    spec.serviceAccountName,
    spec.serviceAccountUID,
    spec.nodeName,
    spec.nodeUID,
  ];
  return message(
    ...texts.map((text, index) => stringField(index + 1, text)),
    integerField(8, spec.maxExpirationSeconds ?? 0),
    bytesField(12, Buffer.from(spec.stubPKCS10Request ?? '', 'base64')),
    ...more,
  );
}

test('a protobuf request equals the one read from JSON', () => {
  const raw = message(metadataField, bytesField(2, specMessage()), bytesField(3, Buffer.alloc(0)));
  assert.deepEqual(readPodCertificateRequest(type, raw), { ...request, status: {} });
});

test('fields of a later version are skipped', () => {
  const later = [stringField(99, 'later'), integerField(98, 5)];
  const raw = message(...later, metadataField, bytesField(2, specMessage(...later)), ...later);
  assert.deepEqual(readPodCertificateRequest(type, raw).spec, spec);
});

test('annotation keys may be names of Object.prototype', () => {
  const entry = (key: string, value: string): Buffer =>
    bytesField(11, message(stringField(1, key), stringField(2, value))) as Buffer;
  const raw = message(
    metadataField,
    bytesField(2, specMessage(entry('__proto__', 'a'), entry('example.com/role', 'b'))),
  );
  const { unverifiedUserAnnotations } = readPodCertificateRequest(type, raw).spec;
  assert.deepEqual(Object.entries(unverifiedUserAnnotations ?? {}), [
    ['__proto__', 'a'],
    ['example.com/role', 'b'],
  ]);
});

test('a v1beta1 request has its public key and its proof of possession', () => {
  const raw = message(
    metadataField,
    bytesField(2, message(bytesField(9, Buffer.from('key')), bytesField(10, Buffer.from('proof')))),
  );
  const read = readPodCertificateRequest(type, raw).spec;
  assert.equal(read.pkixPublicKey, Buffer.from('key').toString('base64'));
  assert.equal(read.proofOfPossession, Buffer.from('proof').toString('base64'));
  assert.equal(read.stubPKCS10Request, undefined);
});

test('a message without metadata or spec is refused', () => {
  assert.throws(() => readPodCertificateRequest(type, metadataField), SyntaxError);
  assert.throws(() => readPodCertificateRequest(type, bytesField(2, specMessage())), SyntaxError);
});

const issued = withIssued(
  podRequest(),
  {
    chainPem: '-----BEGIN CERTIFICATE-----\n',
    notBefore: NOW,
    beginRefreshAt: NOW + 3_600_000,
    notAfter: NOW + 7_200_000,
  },
  NOW,
);
const denied = withDenied(podRequest(), { reason: 'NotAllowed', message: 'nö' }, NOW);

for (const [law, written] of [
  ['a chain with its times', issued],
  ['a denial', denied],
] as const) {
  test(`${law} is written with its preconditions, and nothing else of the request`, () => {
    const sent = readSent(podStatusBody(written));
    assert.deepEqual(sent.status, written.status);
    assert.deepEqual(sent.metadata, metadata);
    assert.deepEqual(openEnvelope(podStatusBody(written)).type, type);
  });
}

test('generateName is kept: leaving it out would clear it', () => {
  const { metadata: sent } = readSent(
    podStatusBody({ ...issued, metadata: { ...metadata, generateName: 'req-' } }),
  );
  assert.equal(sent.generateName, 'req-');
});

test('a response with only metadata is read; any other message is refused', () => {
  const answer = envelope({ apiVersion: 'meta.k8s.io/v1', kind: 'Partial' }, metadataField);
  assert.deepEqual(readPartialObjectMetadata(answer), { metadata });
  assert.throws(() => readPartialObjectMetadata(Buffer.from('{}')), SyntaxError);
  assert.throws(() => readPartialObjectMetadata(envelope(type, Buffer.alloc(0))), SyntaxError);
});

/** With its spec behind its status, and before it as the API server has it. */
const withStatus = (of: typeof issued): readonly Buffer[] => {
  const { raw } = openEnvelope(podStatusBody(of));
  const specField = bytesField(2, specMessage());
  return [message(raw, specField), message(specField, raw)];
};

test('the reader of a controller reads a pending request whole', () => {
  const others: readonly Condition[] = [
    { ...CONDITION, type: 'Example' },
    { ...CONDITION, status: 'False' },
  ];
  for (const said of others) {
    const pending = { ...request, status: { conditions: [said], certificateChain: 'chain' } };
    for (const raw of withStatus(pending)) {
      assert.deepEqual(readPodCertificateRequest(type, raw, UNLESS_ANSWERED), pending);
    }
  }
});

for (const answered of [issued, denied]) {
  const { stubPKCS10Request: _stub, ...left } = spec;
  const { certificateChain: _chain, ...ended } = answered.status ?? {};
  const end = ended.conditions?.[0]?.type ?? '';
  test(`the reader of a controller omits the byte fields of a request that is ${end}`, () => {
    const whole = { ...request, status: answered.status };
    for (const raw of withStatus(answered)) {
      assert.deepEqual(readPodCertificateRequest(type, raw), whole);
      assert.deepEqual(readPodCertificateRequest(type, raw, UNLESS_ANSWERED), {
        ...request,
        spec: left,
        status: ended,
      });
    }
  });
}
