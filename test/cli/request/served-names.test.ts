// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyNobodyServes } from '../../../src/cli/commands/request/served-names.ts';
import { KubeError } from '../../../src/kube/client/kube-error.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';

function cluster(...names: readonly string[]): RecordedClient {
  const client = recordedClient();
  client.answer(() => ({ items: names.map((signerName) => ({ spec: { signerName } })) }));
  return client;
}

test('a signer name that no ClusterSigner has is named with those that there are', async () => {
  const line = await whyNobodyServes(cluster('example.com/people'), 'example.com/pepole');
  assert.match(
    line ?? '',
    /^no ClusterSigner serves "example\.com\/pepole" .*"example\.com\/people"/,
  );
});

for (const name of ['example.com/people', 'kubernetes.io/kubelet-serving']) {
  test(`nothing is said about ${name}, which is served`, async () => {
    assert.equal(await whyNobodyServes(cluster('example.com/people'), name), undefined);
  });
}

test('nothing is said to who may not list ClusterSigners', async () => {
  const client = recordedClient();
  client.answer(() => {
    throw new KubeError({ status: 403, what: 'GET', body: { reason: 'Forbidden' } });
  });
  assert.equal(await whyNobodyServes(client, 'example.com/pepole'), undefined);
});
