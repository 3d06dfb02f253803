// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { PodCertificateRequest } from '../../../src/api/request/pod-certificate-request.ts';
import { NOW } from '../../support/pki/chain.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { start, type Stage } from './actor.ts';

/** How many different statuses of a leaf were sent: chain and times. */
const leaves = (stage: Stage): number =>
  new Set(
    stage
      .sent()
      .map(({ status: { certificateChain, notBefore, notAfter } = {} }) =>
        [certificateChain, notBefore, notAfter].join(),
      ),
  ).size;

/** The same request as somebody else left it, some versions on. */
function changed(
  request: PodCertificateRequest,
  status?: PodCertificateRequest['status'],
): PodCertificateRequest {
  const moved = { ...request, metadata: { ...request.metadata, resourceVersion: '9' } };
  return status === undefined ? moved : { ...moved, status };
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

test('a leaf that was not delivered is sent again as it is, while the API server takes it', async () => {
  const stage = start();
  stage.server.troubles.push('unreachable', 'unreachable');
  await assert.rejects(stage.handle());
  await assert.rejects(stage.handle());
  stage.later(3 * 60_000);
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['PUT', 'GET', 'PUT', 'GET', 'PUT']);
  assert.equal(leaves(stage), 1);
});

test('a notBefore of five minutes ago is taken no more: then it is signed anew', async () => {
  const stage = start();
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  const old = Date.parse(stage.sent()[0]?.status?.notBefore ?? '');
  stage.later(old + 5 * 60_000 - (NOW + 700));
  stage.server.stored = changed(stage.request);
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['PUT', 'GET', 'PUT']);
  assert.equal(leaves(stage), 2);
  const notBefore = Date.parse(stage.sent()[1]?.status?.notBefore ?? '');
  assert.equal(notBefore, old + 4 * 60_000);
});

test('a conflict is looked into with a GET, and the same leaf fenced by what it showed', async () => {
  const stage = start();
  stage.server.stored = changed(stage.request);
  await assert.rejects(stage.handle(), { code: 'KUBE_CONFLICT', disposition: 'retry' });
  assert.equal((await stage.handle()).outcome, 'issued');
  const versions = stage.sent().map(({ metadata }) => metadata.resourceVersion);
  assert.deepEqual(versions, ['7', '9']);
  assert.deepEqual(stage.methods(), ['PUT', 'GET', 'PUT']);
  assert.equal(leaves(stage), 1);
});

for (const type of ['Issued', 'Denied', 'Failed']) {
  test(`what another ended is left as it is: ${type}`, async () => {
    const stage = start();
    const conditions = [{ type, status: 'True' as const }];
    stage.server.stored = changed(stage.request, { conditions, certificateChain: 'another' });
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

/** An actor that holds the leaf of a request that is gone, and the request that took its name. */
async function replaced(): Promise<Stage & { readonly namesake: PodCertificateRequest }> {
  const stage = start();
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  const namesake = { ...stage.request, metadata: { ...stage.request.metadata, uid: 'another' } };
  stage.server.stored = namesake;
  return { ...stage, namesake };
}

test('a namesake never gets the leaf of the one before it', async () => {
  const stage = await replaced();
  assert.deepEqual(await stage.handle(), { outcome: 'ignored', reason: 'Gone' });
  assert.deepEqual(stage.methods(), ['PUT', 'GET']);
});

test('a namesake is signed on its own account', async () => {
  const stage = await replaced();
  assert.equal((await stage.handle(stage.namesake)).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['PUT', 'PUT']);
  assert.equal(leaves(stage), 2);
});

test('who is forgotten leaves no leaf behind', async () => {
  const stage = start();
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  stage.forget('team-a/req-web-0');
  await stage.handle();
  assert.deepEqual(stage.methods(), ['PUT', 'PUT']);
  assert.equal(leaves(stage), 2);
});

const keyless = { stubPKCS10Request: '' };

test('what an old kubelet wrote is read whole and answered through v1beta1', async () => {
  const stage = start({ spec: keyless, legacy: true });
  stage.server.stored = podRequest();
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['GET', 'PUT']);
  for (const { path } of stage.requests)
    assert.match(path, /^\/apis\/certificates\.k8s\.io\/v1beta1\//);
});

test('where v1beta1 is not served it waits, and is never denied', async () => {
  const stage = start({ spec: keyless });
  await assert.rejects(stage.handle(), { code: 'REQUEST_MALFORMED', disposition: 'wait' });
  assert.deepEqual(stage.requests, []);
});

test('a leaf of a clock that was minutes ahead, and is right again, is signed anew', async () => {
  const stage = start();
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  stage.later(-8 * 60_000);
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.equal(leaves(stage), 2);
});

test('a signature is logged once, before it is sent, however often it is sent', async () => {
  const stage = start();
  stage.server.troubles.push('unreachable', 'lost');
  await assert.rejects(stage.handle());
  await assert.rejects(stage.handle());
  assert.equal((await stage.handle()).outcome, 'issued');
  const leaf = new X509Certificate(stage.sent()[0]?.status?.certificateChain ?? '');
  const serial = leaf.serialNumber.toLowerCase();
  assert.deepEqual(stage.signed(), [{ uid: stage.request.metadata.uid, serial }]);
});
