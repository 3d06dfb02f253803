// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unservedMessage } from '#cli/commands/request/served-names.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';

const list = (...names: readonly string[]): object => ({
  items: names.map((signerName) => ({ spec: { signerName } })),
});

/**
 * Signers of its own CAs, of an external CA, and of ACME servers; undefined where that kind is not
 * installed.
 */
function cluster(names: readonly string[], ofAcme?: readonly string[]): RecordedClient {
  const client = recordedClient();
  client.answer(({ path }) => {
    if (path.endsWith('/clustersigners')) return list(...names);
    if (path.endsWith('/externalclustersigners')) return list('example.com/corporate');
    if (ofAcme === undefined) throw refused(404, 'NotFound');
    return list(...ofAcme);
  });
  return client;
}

const refused = (status: number, reason: string): KubeError =>
  new KubeError({ status, what: 'GET', body: { reason } });

test('a signer name that no ClusterSigner has is named with those that there are', async () => {
  const line = await unservedMessage(cluster(['example.com/people']), 'example.com/pepole');
  assert.match(
    line ?? '',
    /^no ClusterSigner, AcmeClusterSigner or ExternalClusterSigner serves "example\.com\/pepole" .*"example\.com\/people"/,
  );
});

test('a signer of an ACME server serves its name, and is named where another is wanted', async () => {
  const both = cluster(['example.com/people'], ['example.com/public']);
  assert.equal(await unservedMessage(both, 'example.com/public'), undefined);
  assert.match(
    (await unservedMessage(both, 'example.com/pubilc')) ?? '',
    /\(there are "example\.com\/corporate", "example\.com\/people", "example\.com\/public"\)/,
  );
});

for (const name of [
  'example.com/people',
  'example.com/corporate',
  'kubernetes.io/kubelet-serving',
]) {
  test(`nothing is said about ${name}, which is served`, async () => {
    assert.equal(await unservedMessage(cluster(['example.com/people']), name), undefined);
  });
}

for (const kind of ['clustersigners', 'acmeclustersigners', 'externalclustersigners']) {
  test(`nothing is said to who may not list ${kind}`, async () => {
    const client = recordedClient();
    client.answer(({ path }) => {
      if (path.endsWith(`/${kind}`)) throw refused(403, 'Forbidden');
      return list();
    });
    assert.equal(await unservedMessage(client, 'example.com/pepole'), undefined);
  });
}
