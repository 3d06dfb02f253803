// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { CertificateSigningRequest } from '../../../src/api/request/csr.ts';
import { start, type Stage } from './actor.ts';

const certificates = (stage: Stage): readonly (string | undefined)[] =>
  stage.sent().map(({ status }) => status?.certificate);

/** The same request with more status, one version on. */
function changed(
  csr: CertificateSigningRequest,
  status: CertificateSigningRequest['status'] = {},
): CertificateSigningRequest {
  const metadata = { ...csr.metadata, resourceVersion: '5' };
  return { ...csr, metadata, status: { ...csr.status, ...status } };
}

test('a write whose answer was lost had landed: a GET says so, and nothing is written again', async () => {
  const stage = start();
  stage.server.troubles.push('lost');
  await assert.rejects(stage.handle(), { code: 'KUBE_UNAVAILABLE', disposition: 'retry' });
  const outcome = await stage.handle();
  assert.deepEqual([outcome.outcome, outcome.reason], ['issued', 'Issued']);
  assert.equal(outcome.written, stage.server.stored);
  assert.deepEqual(stage.methods(), ['PUT', 'GET']);
});

test('a write that did not land is sent again: the same certificate, after a GET', async () => {
  const stage = start();
  stage.server.troubles.push('unreachable', 'unreachable');
  await assert.rejects(stage.handle());
  await assert.rejects(stage.handle());
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['PUT', 'GET', 'PUT', 'GET', 'PUT']);
  assert.equal(new Set(certificates(stage)).size, 1);
});

test('a conflict is looked into with a GET, and the same certificate fenced by what it showed', async () => {
  const stage = start();
  stage.server.stored = changed(stage.csr);
  await assert.rejects(stage.handle(), { code: 'KUBE_CONFLICT', disposition: 'retry' });
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['PUT', 'GET', 'PUT']);
  assert.deepEqual(
    stage.sent().map(({ metadata }) => metadata.resourceVersion),
    ['1', '5'],
  );
  assert.equal(new Set(certificates(stage)).size, 1);
});

const ended: [law: string, status: CertificateSigningRequest['status']][] = [
  ['another signer was faster', { certificate: 'LS0t' }],
  ['it was denied meanwhile', { conditions: [{ type: 'Denied', status: 'True' }] }],
  ['it failed meanwhile', { conditions: [{ type: 'Failed', status: 'True' }] }],
];

for (const [law, status] of ended) {
  test(`what somebody else ended is left as it is: ${law}`, async () => {
    const stage = start();
    stage.server.stored = changed(stage.csr, status);
    await assert.rejects(stage.handle());
    assert.deepEqual(await stage.handle(), { outcome: 'ignored', reason: 'Gone' });
    assert.deepEqual(stage.methods(), ['PUT', 'GET']);
  });
}

test('a request that was deleted meanwhile is left', async () => {
  const stage = start();
  stage.server.stored = undefined;
  await assert.rejects(stage.handle(), { code: 'KUBE_NOT_FOUND', disposition: 'retry' });
  assert.deepEqual(await stage.handle(), { outcome: 'ignored', reason: 'Gone' });
});

/** Somebody else's request under the name of a deleted one. */
function namesake(csr: CertificateSigningRequest): CertificateSigningRequest {
  return { ...csr, metadata: { ...csr.metadata, uid: 'another', resourceVersion: '9' } };
}

test('a namesake never gets the certificate of the one before it', async () => {
  const stage = start();
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  stage.server.stored = namesake(stage.csr);
  assert.deepEqual(await stage.handle(), { outcome: 'ignored', reason: 'Gone' });
  assert.deepEqual(stage.methods(), ['PUT', 'GET']);
});

test('a namesake is signed on its own account', async () => {
  const stage = start();
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  const other = namesake(stage.csr);
  stage.server.stored = other;
  assert.equal((await stage.handle(other)).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['PUT', 'PUT']);
  assert.equal(new Set(certificates(stage)).size, 2);
});

test('a stale look at a request that has its certificate changes nothing', async () => {
  const stage = start();
  await stage.handle();
  const { stored } = stage.server;
  await stage.handle().catch(() => undefined);
  assert.equal(stage.server.stored, stored);
});

test('who is forgotten leaves no certificate behind', async () => {
  const stage = start();
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  stage.forget('jane-1');
  await stage.handle();
  assert.equal(new Set(certificates(stage)).size, 2);
});

test('a signature is logged once, before it is sent, however often it is sent', async () => {
  const stage = start();
  stage.server.troubles.push('unreachable', 'lost');
  await assert.rejects(stage.handle());
  await assert.rejects(stage.handle());
  assert.equal((await stage.handle()).outcome, 'issued');
  const leaf = new X509Certificate(
    Buffer.from(stage.sent()[0]?.status?.certificate ?? '', 'base64'),
  );
  const serial = leaf.serialNumber.toLowerCase();
  assert.deepEqual(stage.signed(), [{ uid: stage.csr.metadata.uid, serial }]);
});
