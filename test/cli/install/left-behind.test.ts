// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLeftBehind } from '#cli/commands/install/left-behind.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';

const KEYS = 'countersign-keys';
const GRANTED = { 'countersign.dev/signer-name': 'example.com/people' };

test('lists a user’s CA in the key namespace, which goes with the namespace', async () => {
  const secrets = [
    { name: 'people-ca', namespace: KEYS, annotations: GRANTED },
    { name: 'workload-ca', namespace: KEYS, annotations: GRANTED, made: true },
    { name: 'unrelated', namespace: KEYS },
    { name: 'team-ca', namespace: 'team-a', annotations: GRANTED },
  ];
  const client = recordedClient();
  client.answer(({ path, query }) => {
    const list = (items: readonly object[]): object => ({
      apiVersion: 'v1',
      kind: 'List',
      metadata: { resourceVersion: '1' },
      items: items.map((metadata) => ({ metadata })),
    });
    if (path.endsWith('/namespaces')) return list([{ name: KEYS }]);
    if (path.endsWith(`/namespaces/${KEYS}/secrets`))
      return list(secrets.filter(({ namespace }) => namespace === KEYS));
    if (path.endsWith('/secrets') && query?.['labelSelector']?.toString().includes('managed-by'))
      return list(secrets.filter(({ made }) => made === true));
    return list([]);
  });
  const { secrets: left } = await readLeftBehind(client);
  assert.deepEqual(left.map(({ metadata }) => metadata.name).sort(), ['people-ca', 'workload-ca']);
});
