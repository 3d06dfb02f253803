// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { revokeOrder } from '#cli/commands/acme/revoke.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { encodePem } from '#pki/der/pem.ts';
import { order } from '../../acme/acme/requests/build.ts';
import { countersign, type CommandResult } from '../../support/cluster/countersign.ts';
import { openWrittenServer } from '../../support/cluster/silent-server.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';
import { ca, link } from '../../support/pki/chain.ts';

const PEM = encodePem('CERTIFICATE', link('a.example', { extensions: [ca()] }).certificate.raw);
const OPTIONS = { namespace: 'team-a', reason: 'superseded', force: false, dryRun: false };

/** A cluster in which Certificate web asked, Secret web-tls holds `held`, and Pod app mounts it. */
function cluster(held: string | undefined): RecordedClient {
  const client = recordedClient();
  const secret = { secretName: 'web-tls' };
  const answers: readonly (readonly [RegExp, unknown])[] = [
    [/\/orders\/web-1$/, order(1, { state: 'valid', certificate: PEM })],
    [
      /\/certificaterequests\/web$/,
      { metadata: { annotations: { 'cert-manager.io/certificate-name': 'web' } } },
    ],
    [/\/certificates\/web$/, { metadata: { name: 'web' }, spec: secret }],
    [
      /\/secrets\/web-tls$/,
      held === undefined
        ? undefined
        : { data: { 'tls.crt': Buffer.from(held).toString('base64') } },
    ],
    [
      /\/pods$/,
      {
        apiVersion: 'v1',
        kind: 'PodList',
        metadata: {},
        items: [
          { metadata: { name: 'app' }, spec: { volumes: [{ secret }] } },
          { metadata: { name: 'other' }, spec: { volumes: [{ secret: { secretName: 'x' } }] } },
        ],
      },
    ],
  ];
  client.answer(({ method, path }) => {
    if (method === 'PATCH') return {};
    const found = answers.find(([pattern]) => pattern.test(path))?.[1];
    if (found === undefined) throw new KubeError({ status: 403, what: `${method} ${path}` });
    return found;
  });
  return client;
}

const patches = ({ requests }: RecordedClient): readonly unknown[] =>
  requests.filter(({ method }) => method === 'PATCH').map(({ body }) => body);

test('revokes an unused certificate by an annotation on its Order', async () => {
  const client = cluster('another certificate');
  const { text, report } = await revokeOrder(client, 'order/web-1', OPTIONS);
  assert.equal(report.outcome, 'requested');
  assert.match(
    text,
    /^Requested revocation of the certificate with serial [0-9a-f]+ \(superseded\)/,
  );
  assert.deepEqual(patches(client), [
    {
      metadata: {
        resourceVersion: '1',
        annotations: { 'acme.countersign.dev/revoke': 'superseded' },
      },
    },
  ]);
});

test('a certificate that is in use is not revoked, and the command says what uses it', async () => {
  const client = cluster(PEM);
  const { text, report } = await revokeOrder(client, 'web-1', OPTIONS);
  assert.equal(report.outcome, 'refused');
  assert.match(text, /Certificate team-a\/web has it in Secret team-a\/web-tls\n/);
  assert.match(text, /Pod team-a\/app mounts Secret team-a\/web-tls\n/);
  assert.doesNotMatch(text, /other/);
  assert.match(text, /cmctl renew.*--force/);
  assert.deepEqual(patches(client), []);
});

test('with --force it is revoked all the same', async () => {
  const client = cluster(PEM);
  const { report } = await revokeOrder(client, 'web-1', { ...OPTIONS, force: true });
  assert.equal(report.outcome, 'requested');
  assert.equal(patches(client).length, 1);
});

test('a dry run writes no annotation', async () => {
  const client = cluster('another certificate');
  const { text } = await revokeOrder(client, 'order/web-1', { ...OPTIONS, dryRun: true });
  assert.match(text, /would be requested \(dry run\)/);
  const queries = client.requests
    .filter(({ method }) => method === 'PATCH')
    .map(({ query }) => query);
  assert.deepEqual(queries, [{ dryRun: 'All' }]);
});

test('who may not read the Secret must assume that the certificate is in use', async () => {
  const { report } = await revokeOrder(cluster(undefined), 'web-1', OPTIONS);
  assert.equal(report.outcome, 'refused');
});

test('an Order without a certificate has nothing to revoke', async () => {
  const client = recordedClient();
  client.answer(() => order(1));
  await assert.rejects(
    revokeOrder(client, 'web-1', OPTIONS),
    /Order team-a\/web-1 has no certificate/,
  );
});

/** Runs `countersign revoke order/web-1` against an API server that lets the user read no other. */
async function revoked(
  t: TestContext,
  ...flags: readonly string[]
): Promise<CommandResult & { readonly written: number }> {
  let written = 0;
  const server = await openWrittenServer(({ method, url = '' }, response) => {
    const isOrder = /\/orders\/web-1(?:\?|$)/.test(url);
    if (method === 'PATCH') written += 1;
    response.writeHead(isOrder ? 200 : 403, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isOrder ? order(1, { state: 'valid', certificate: PEM }) : {}));
  });
  t.after(() => server.close());
  const args = ['revoke', 'order/web-1', '-n', 'team-a', '--kubeconfig', server.kubeconfig];
  return { ...(await countersign([...args, ...flags])), written };
}

test('the revocation of an Order is printed as JSON, and as the name of the Order', async (t) => {
  const json = await revoked(t, '-o', 'json');
  assert.equal(json.code, 0, json.stderr);
  const { outcome, object, dryRun } = JSON.parse(json.stdout) as Record<string, unknown>;
  assert.deepEqual([outcome, object, dryRun], ['requested', 'order/web-1', false]);
  const name = await revoked(t, '-o', 'name');
  assert.equal(name.stdout, 'order.acme.countersign.dev/web-1\n');
});

test('a reason that acme does not send ends the command before anything is written', async (t) => {
  const { code, stderr, written } = await revoked(t, '--reason', 'privilegeWithdrawn');
  assert.equal(code, 2, stderr);
  assert.match(stderr, /privilegeWithdrawn/);
  assert.equal(written, 0);
});

test('an Order is not revoked by the name of a signer beside it', async (t) => {
  const { code, stderr, written } = await revoked(t, '--signer', 'example.com/other');
  assert.equal(code, 2, stderr);
  assert.equal(written, 0);
});
