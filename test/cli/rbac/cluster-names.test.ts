// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterNames, lostSigners } from '#cli/commands/rbac/cluster-names.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';
import { clusterSigner, workloadSpec } from '../../support/signers/cluster-signer.ts';

const OWN = { secretNamespace: 'countersign-keys', servingSigner: 'countersign.dev/serving' };

function withSigners(...specs: readonly Record<string, unknown>[]): RecordedClient {
  const client = recordedClient();
  client.answer(() => ({ items: specs.map((spec) => clusterSigner(spec)) }));
  return client;
}

/** A user's own CA. */
const own = (signerName: string, namespace: string, name = 'ca'): Record<string, unknown> => ({
  ...workloadSpec(),
  signerName,
  authority: { secret: { namespace, name } },
});

test('the names of every installed ClusterSigner are taken: signer, bundle, Secret', async () => {
  const found = await clusterNames(
    withSigners(workloadSpec(), own('example.com/other', 'countersign-keys')),
    OWN,
  );
  assert.deepEqual(found.signers, ['example.com/other', 'example.com/workload']);
  assert.deepEqual(found.secrets, [
    { namespace: 'countersign-keys', name: 'ca' },
    { namespace: 'countersign-keys', name: 'workload-ca' },
  ]);
  assert.ok(found.bundles.includes('example.com:workload:primary'));
});

test('no Secret of another namespace gets into the roles, and what is left out is said', async () => {
  const { signers, secrets, leftOut } = await clusterNames(
    withSigners(own('example.com/other', 'kube-system', 'token')),
    OWN,
  );
  assert.deepEqual([signers, secrets], [[], []]);
  assert.match(leftOut[0] ?? '', /Secret is not in namespace countersign-keys/);
});

test('the ClusterSigner of our own ports is free: each installation has its names', async () => {
  const found = await clusterNames(withSigners(own(OWN.servingSigner, 'countersign-keys')), OWN);
  assert.deepEqual([found.signers, found.secrets, found.leftOut], [[], [], []]);
});

test('an invalid ClusterSigner is left out, with the reason', async () => {
  const { signers, leftOut } = await clusterNames(withSigners({ signerName: "x'||true" }), OWN);
  assert.deepEqual(signers, []);
  assert.equal(leftOut.length, 1);
});

test('signers only in the cluster’s roles are lost; derived names are not', async () => {
  const client = recordedClient();
  client.answer(({ path }) => {
    if (!path.endsWith('countersign-pcr-issuer')) {
      throw new KubeError({ status: 404, what: 'GET', body: { reason: 'NotFound' } });
    }
    return {
      rules: [
        { resources: ['secrets'], resourceNames: ['workload-ca'] },
        {
          resources: ['signers'],
          resourceNames: ['example.com/a', 'example.com/b', 'example.com/*'],
        },
      ],
    };
  });
  assert.deepEqual(await lostSigners(client, ['example.com/b']), [
    'example.com/*',
    'example.com/a',
  ]);
  const printed = ['example.com/a', 'example.com/b', 'example.com/*'];
  assert.deepEqual(await lostSigners(client, printed), []);
});
