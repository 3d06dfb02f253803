// SPDX-License-Identifier: Apache-2.0
/** What an old kubelet writes through v1beta1 has its key only there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { pcrStage } from '../../support/requests/issuance-stage.ts';

const keyless = { stubPKCS10Request: '' };

test('a request without a key is read and answered through v1beta1', async () => {
  const stage = pcrStage(keyless, { legacy: true });
  stage.server.stored = podRequest();
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['GET', 'PUT']);
  for (const { path } of stage.requests)
    assert.match(path, /^\/apis\/certificates\.k8s\.io\/v1beta1\//);
});

test('without v1beta1, a request without a key waits and is never denied', async () => {
  const stage = pcrStage(keyless);
  await assert.rejects(stage.handle(), { code: 'REQUEST_MALFORMED', disposition: 'wait' });
  assert.deepEqual(stage.requests, []);
});

test('a request without a key in either version is read once more, and waits', async () => {
  const stage = pcrStage(keyless, { legacy: true });
  await assert.rejects(stage.handle(), { code: 'REQUEST_MALFORMED', disposition: 'wait' });
  assert.deepEqual(stage.methods(), ['GET']);
});

test('a recreated request is not answered in place of the first', async () => {
  const stage = pcrStage(keyless, { legacy: true });
  const other = podRequest({ signerName: 'example.com/other', serviceAccountName: 'admin' });
  stage.server.stored = { ...other, metadata: { ...other.metadata, uid: 'another' } };
  assert.equal((await stage.handle()).outcome, 'ignored');
  assert.deepEqual(stage.methods(), ['GET']);
});
