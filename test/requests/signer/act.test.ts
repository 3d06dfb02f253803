// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { ISSUING, ROOT, certificatesOf } from '../../support/ca/intermediate.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { csrStage, type Stage } from '../../support/requests/issuance-stage.ts';

const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests/jane-1/status';

/** base64 of PEM, as certificates.k8s.io/v1 has it. */
const delivered = (stage: Stage<CertificateSigningRequest>): string =>
  Buffer.from(stage.sent()[0]?.status?.certificate ?? '', 'base64').toString();

test('issuing is one PUT to /status with the resourceVersion, and nothing else', async () => {
  const stage = csrStage();
  const outcome = await stage.handle();
  assert.deepEqual([outcome.outcome, outcome.reason], ['issued', 'Issued']);
  assert.equal(outcome.event, undefined);
  assert.deepEqual(outcome.written, stage.server.stored);
  assert.deepEqual(
    stage.requests.map(({ method, path }) => [method, path]),
    [['PUT', PATH]],
  );
  const [sent] = stage.sent();
  assert.equal(sent?.metadata.resourceVersion, '1');
  assert.deepEqual(sent.status?.conditions, stage.request.status?.conditions);
});

test('the chain is the leaf and its intermediates, in order, without the root', async () => {
  const stage = csrStage();
  await stage.handle();
  const [leaf, issuing, ...more] = certificatesOf(delivered(stage));
  assert.ok(leaf !== undefined && issuing !== undefined);
  assert.deepEqual(more, []);
  assert.equal(issuing.fingerprint256, ISSUING.fingerprint256);
  assert.ok(leaf.checkIssued(ISSUING) && leaf.verify(ISSUING.publicKey));
  assert.ok(issuing.verify(ROOT.publicKey));
  assert.equal(leaf.subject, 'CN=jane');
  assert.ok(leaf.publicKey.equals(createPublicKey(privateKey('P-256'))));
  assert.equal(leaf.ca, false);
});

test('an Event reports a name missing in the leaf once the leaf is delivered', async () => {
  const stage = csrStage({ dnsNames: ['a.example.com'] });
  const outcome = await stage.handle();
  assert.deepEqual([outcome.outcome, outcome.reason], ['issued', 'Issued']);
  assert.deepEqual([outcome.event?.type, outcome.event?.reason], ['Warning', 'LessThanRequested']);
  assert.match(outcome.event?.note ?? '', /no dnsNames "a\.example\.com"/);
  const [leaf] = certificatesOf(delivered(stage));
  assert.equal(leaf?.subjectAltName, undefined);
});

test('a request that can never be issued is Failed with a reason, without certificate', async () => {
  const stage = csrStage({ usages: ['ocsp signing'] });
  const outcome = await stage.handle();
  assert.deepEqual([outcome.outcome, outcome.reason], ['failed', 'UsageNotAllowed']);
  assert.deepEqual(outcome.written, stage.server.stored);
  assert.deepEqual([outcome.event?.type, outcome.event?.reason], ['Warning', 'UsageNotAllowed']);
  const [sent, ...more] = stage.sent();
  assert.deepEqual(more, []);
  assert.equal(stage.requests[0]?.path, PATH);
  assert.equal(sent?.status?.certificate, undefined);
  const [approved, failed] = sent?.status?.conditions ?? [];
  assert.equal(approved?.type, 'Approved');
  assert.deepEqual(
    [failed?.type, failed?.status, failed?.reason],
    ['Failed', 'True', outcome.reason],
  );
  assert.match(failed?.message ?? '', /"ocsp signing"/);
});

test('a request that is not approved is ignored', async () => {
  const stage = csrStage();
  const { status: _, ...csr } = stage.request;
  assert.deepEqual(await stage.handle(csr), { outcome: 'ignored', reason: '' });
  assert.deepEqual(stage.requests, []);
});

test('a request older than its Signer is neither signed nor written', async () => {
  const stage = csrStage();
  const made = Date.parse(stage.request.metadata.creationTimestamp) + 60_000;
  const signer = teamSigner({ creationTimestamp: new Date(made).toISOString() });
  assert.equal((await stage.handle(stage.request, signer)).reason, 'OlderThanSigner');
  assert.deepEqual(stage.requests, []);
});

test('a request of a signer without spec.requests is ignored', async () => {
  const stage = csrStage();
  const { requests: _, ...spec } = stage.signer.spec;
  const outcome = await stage.handle(stage.request, { ...stage.signer, spec });
  assert.deepEqual(outcome, { outcome: 'ignored', reason: '' });
  assert.deepEqual(stage.requests, []);
});
