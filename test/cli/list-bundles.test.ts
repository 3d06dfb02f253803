// SPDX-License-Identifier: Apache-2.0
/** What a command that compares with the cluster's ClusterTrustBundles goes on without. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listBundles } from '#cli/sources/cluster-objects.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { recordedClient, type RecordedClient } from '../support/kube/recorded-client.ts';

const V1 = '/apis/certificates.k8s.io/v1';

/**
 * A client whose API server serves ClusterTrustBundles, and answers a list of them with `status`,
 * or with one.
 */
function clientOf(status: number): RecordedClient {
  const client = recordedClient();
  client.answer(({ path }) => {
    if (path === V1) return { resources: [{ name: 'clustertrustbundles' }] };
    if (path !== `${V1}/clustertrustbundles` || status !== 200)
      throw new KubeError({ status: path.startsWith(`${V1}/`) ? status : 404, what: path });
    const metadata = { name: 'example.com:workload:primary' };
    return { kind: 'List', metadata: {}, items: [{ metadata, spec: { trustBundle: 'PEM' } }] };
  });
  return client;
}

test('the bundles are those that the API server lists', async () => {
  const found = await listBundles(clientOf(200));
  assert.deepEqual(found, [{ name: 'ctb/example.com:workload:primary', pem: 'PEM', signer: '' }]);
});

test('an API server that does not serve them has none to list', async () => {
  const client = recordedClient();
  client.answer(({ path }) => {
    throw new KubeError({ status: 404, what: path });
  });
  assert.equal(await listBundles(client), undefined);
});

test('who may not list them goes on without', async () => {
  assert.equal(await listBundles(clientOf(403)), undefined);
});

for (const status of [0, 401, 410, 429, 500, 503])
  test(`an error of the API server is not "no bundles": ${status || 'no answer'}`, async () => {
    await assert.rejects(
      listBundles(clientOf(status)),
      (error) => error instanceof KubeError && error.status === status,
    );
  });
