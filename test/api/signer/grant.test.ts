// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER_SIGNER_UID, SIGNER_NAME, isGranted, isOwned } from '#api/signer/grant.ts';
import { keyOf, type Secret } from '#api/object/object.ts';

const secret = (annotations?: Record<string, string>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 'ca',
    namespace: 'keys',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '',
    ...(annotations === undefined ? {} : { annotations }),
  },
});

test('a Secret is granted to exactly the signer that its annotation names', () => {
  const granted = secret({ [SIGNER_NAME]: 'example.com/workload' });
  assert.equal(isGranted(granted, 'example.com/workload'), true);
  assert.equal(isGranted(granted, 'example.com/work'), false);
  assert.equal(isGranted(secret(), 'example.com/workload'), false);
});

test('a Secret is owned by exactly the ClusterSigner whose UID it has', () => {
  const owned = secret({ [CLUSTER_SIGNER_UID]: 'one' });
  assert.equal(isOwned(owned, 'one'), true);
  assert.equal(isOwned(owned, 'two'), false);
  assert.equal(isOwned(secret(), 'one'), false);
});

test('a Signer’s key contains its namespace, a ClusterSigner’s does not', () => {
  assert.equal(keyOf(secret().metadata), 'keys/ca');
  assert.equal(keyOf({ name: 'workload' }), 'workload');
});
