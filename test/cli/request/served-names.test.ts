// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unansweredHint } from '#cli/commands/request/served-names.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { state } from '../../operations/signer-states.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';

const list = (...names: readonly string[]): object => ({
  apiVersion: 'countersign.dev/v1alpha1',
  kind: 'List',
  metadata: {},
  items: names.map((signerName) => {
    const { signer } = state({ spec: { signerName } });
    return { ...signer, metadata: { ...signer.metadata, name: signerName.replace('/', '.') } };
  }),
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

test('a misspelled signer name is no reason to approve, and the nearest is named', async () => {
  const hint = await unansweredHint(cluster(['example.com/people']), 'example.com/pepole');
  assert.match(hint?.text ?? '', /"?example\.com\/pepole \(did you mean example\.com\/people\?\)/);
  assert.equal(hint?.isApprovable, false);
});

test('a signer name near no other may be of others', async () => {
  const both = cluster(['example.com/people'], ['example.com/public']);
  const hint = await unansweredHint(both, 'example.com/of-another-program');
  assert.match(
    hint?.text ?? '',
    /the cluster has "example\.com\/corporate", "example\.com\/people", "example\.com\/public"/,
  );
  assert.equal(hint?.isApprovable, true);
});

for (const name of [
  'example.com/people',
  'example.com/corporate',
  'kubernetes.io/kubelet-serving',
]) {
  test(`nothing is said about ${name}, which is served`, async () => {
    const hint = await unansweredHint(cluster(['example.com/people']), name);
    assert.doesNotMatch(hint?.text ?? '', /no signer in the cluster/);
  });
}

for (const kind of ['clustersigners', 'acmeclustersigners', 'externalclustersigners']) {
  test(`nothing is said to who may not list ${kind}`, async () => {
    const client = recordedClient();
    client.answer(({ path }) => {
      if (path.endsWith(`/${kind}`)) throw refused(403, 'Forbidden');
      return list();
    });
    assert.equal(await unansweredHint(client, 'example.com/pepole'), undefined);
  });
}
