// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { test } from 'node:test';
import { openAccountKey } from '#acme/protocol/index.ts';
import type { Secret } from '#api/object/object.ts';
import { makeAccountKey } from '#cli/commands/acme/account-key.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { acmeObject } from '../../api/acme/build.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';

const OPTIONS = { secretNamespace: 'countersign-keys' };

async function secretOf(signerName?: string): Promise<Secret> {
  const client = recordedClient();
  client.answer(() => acmeObject({}, signerName));
  const namespace = signerName === undefined ? { namespace: 'team-a' } : {};
  await makeAccountKey(client, 'web', { ...OPTIONS, ...namespace });
  const [, create] = client.requests;
  assert.equal(create?.method, 'POST');
  return create.body as Secret;
}

test('the Secret has a key that ACME servers take, and says which signer may use it', async () => {
  const { metadata, data, type } = await secretOf('example.com/public');
  assert.deepEqual(
    [metadata.namespace, metadata.name, type],
    ['countersign-keys', 'account', 'Opaque'],
  );
  assert.deepEqual(metadata.annotations, { 'countersign.dev/signer-name': 'example.com/public' });
  const pem = Buffer.from(data?.['tls.key'] ?? '', 'base64').toString();
  assert.equal(createPrivateKey(pem).asymmetricKeyDetails?.namedCurve, 'prime256v1');
  assert.equal((await openAccountKey(pem)).algorithm, 'ES256');
});

test('the Secret of an AcmeSigner is in its namespace, with its derived name', async () => {
  const { metadata } = await secretOf();
  assert.equal(metadata.namespace, 'team-a');
  assert.deepEqual(metadata.annotations, {
    'countersign.dev/signer-name': 'acmesigners.acme.countersign.dev/team-a.web',
  });
});

test('a Secret that is there is not written, and what is said has no key', async () => {
  const client = recordedClient();
  client.answer(({ method }) => {
    if (method === 'GET') return acmeObject({}, 'example.com/public');
    throw new KubeError({ status: 409, what: 'POST', body: { reason: 'AlreadyExists' } });
  });
  await assert.rejects(
    makeAccountKey(client, 'web', OPTIONS),
    /^SignerError: Secret countersign-keys\/account is there already.*annotate this one with countersign\.dev\/signer-name=example\.com\/public$/,
  );
  assert.deepEqual(
    client.requests.map(({ method }) => method),
    ['GET', 'POST'],
  );
  client.answer(() => acmeObject({}, 'example.com/public'));
  assert.deepEqual(await makeAccountKey(client, 'web', OPTIONS), {
    signerName: 'example.com/public',
    secret: { namespace: 'countersign-keys', name: 'account' },
  });
});
