// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAccountKey } from '#acme/protocol/account-key.ts';
import type { AcmeSignerStatus } from '#api/acme/acme-signer.ts';
import type { Secret } from '#api/object/object.ts';
import { isAcmeSignerName, rollOverAccountKey } from '#cli/commands/acme/roll-over.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { PatchOperation } from '#trust/authority/apply/secret-patch.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { acmeObject } from '../../api/acme/build.ts';
import { patched } from '../../support/kube/json-patch.ts';
import { countersign } from '../../support/cluster/countersign.ts';
import { openWrittenServer } from '../../support/cluster/silent-server.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';

const OPTIONS = { force: false, dryRun: false };
const READY = { account: { url: 'https://acme.example/1', keyThumbprint: 'old' } };
const CLUSTER = 'acmeclustersigner/web';

function answering(status: AcmeSignerStatus): RecordedClient {
  const client = recordedClient();
  client.answer(() => ({ ...acmeObject({}, 'example.com/public'), status }));
  return client;
}

const written = ({ requests }: RecordedClient): unknown =>
  requests.filter(({ method }) => method !== 'GET').map(({ body }) => body);

test('names of ACME signers are told from those of ClusterSigners', () => {
  const names = [CLUSTER, 'AcmeSigners/web', 'acmesigner/web', 'web', 'secret/web', 'acmesigner/'];
  assert.deepEqual(names.map(isAcmeSignerName), [true, true, true, false, false, true]);
});

test('prepare asks for a new key, and says what comes next', async () => {
  const client = answering(READY);
  const { outcome, notes } = await rollOverAccountKey(client, 'prepare', CLUSTER, OPTIONS);
  assert.equal(outcome, 'changed');
  assert.match(notes.join(), /authority activate acmeclustersigner\/web/);
  const [body] = written(client) as [{ metadata: { annotations: Record<string, string> } }];
  assert.deepEqual(Object.keys(body.metadata.annotations), ['countersign.dev/prepare-at']);
  assert.equal('resourceVersion' in body.metadata, true);
});

test('what is prepared is not prepared again, and activate changes to it', async () => {
  const status = { account: { ...READY.account, nextKeyThumbprint: 'new' } };
  const prepared = await rollOverAccountKey(answering(status), 'prepare', CLUSTER, OPTIONS);
  assert.equal(prepared.outcome, 'unchanged');
  const client = answering(status);
  assert.equal((await rollOverAccountKey(client, 'activate', CLUSTER, OPTIONS)).outcome, 'changed');
  assert.match(JSON.stringify(written(client)), /countersign\.dev\/rotate-at/);
});

test('activate is refused where nothing is prepared, prepare where there is no account', async () => {
  for (const [verb, status] of [
    ['activate', READY],
    ['prepare', {}],
  ] as const) {
    const client = answering(status);
    const { outcome } = await rollOverAccountKey(client, verb, CLUSTER, OPTIONS);
    assert.equal(outcome, 'refused');
    assert.deepEqual(written(client), []);
  }
});

test('an AcmeSigner needs its namespace', async () => {
  await assert.rejects(
    rollOverAccountKey(answering(READY), 'prepare', 'acmesigner/web', OPTIONS),
    /an acmesigner is in a namespace; add -n/,
  );
});

test('for an AcmeSigner the command does the Secret’s part, and the old key goes last', async () => {
  const { pem } = await generatePrivateKey('ECDSAP256');
  let secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      namespace: 'team-a',
      name: 'account',
      uid: 's',
      resourceVersion: '1',
      creationTimestamp: '2026-11-22T10:00:00Z',
      annotations: {},
    },
    data: { 'tls.key': Buffer.from(pem).toString('base64') },
  };
  let status: AcmeSignerStatus = READY;
  const seen: string[] = [];
  let isAway = true;
  const client = recordedClient();
  client.answer(async ({ method, path, body }) => {
    if (!path.includes('/secrets/')) {
      if (method === 'GET' && isAway && seen.includes('asked')) {
        // The API server is away once, while the command waits.
        isAway = false;
        throw new KubeError({ status: 503, what: 'GET acmesigner' });
      }
      if (method === 'PATCH') {
        // What acme does once it is asked.
        const next = Buffer.from(secret.data?.['next.key'] ?? '', 'base64').toString();
        const { thumbprint: keyThumbprint } = await openAccountKey(next);
        status = { account: { ...READY.account, keyThumbprint } };
        seen.push('asked');
      }
      return { ...acmeObject(), status };
    }
    if (method === 'PATCH') {
      secret = patched(secret, body as readonly PatchOperation[]);
      seen.push(Object.keys(secret.data ?? {}).join());
    }
    return secret;
  });
  const options = { ...OPTIONS, namespace: 'team-a' };
  await rollOverAccountKey(client, 'prepare', 'acmesigner/web', options);
  const next = secret.data?.['next.key'];
  await rollOverAccountKey(client, 'activate', 'acmesigner/web', options);
  assert.deepEqual(seen, ['tls.key,next.key', 'asked', 'tls.key']);
  assert.equal(secret.data?.['tls.key'], next);
});

test('activate of an account that keeps its old key has exit code 4', async (t) => {
  const { pem } = await generatePrivateKey('ECDSAP256');
  const key = Buffer.from(pem).toString('base64');
  const failed = {
    type: 'KeyRolledOver',
    status: 'False',
    reason: 'Refused',
    message: 'the server has no keyChange',
    // The failure follows the request, whenever the test runs.
    lastTransitionTime: '9999-12-31T23:59:59Z',
  };
  const written: string[] = [];
  const server = await openWrittenServer(({ method = '', url = '' }, response) => {
    if (method !== 'GET') written.push(url);
    const secret = { kind: 'Secret', metadata: {}, data: { 'tls.key': key, 'next.key': key } };
    const status = { ...READY, conditions: [failed] };
    const signer = { ...acmeObject(), status };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(url.includes('/secrets/') ? secret : signer));
  });
  t.after(() => server.close());
  const activate = ['authority', 'activate', 'acmesigner/web', '-n', 'team-a', '-o', 'json'];
  const { code, stdout, stderr } = await countersign([
    ...activate,
    '--kubeconfig',
    server.kubeconfig,
  ]);
  assert.equal(code, 4, stderr);
  assert.equal((JSON.parse(stdout) as { outcome: string }).outcome, 'pending');
  assert.deepEqual(
    written.filter((url) => url.includes('/secrets/')),
    [],
  );
});
