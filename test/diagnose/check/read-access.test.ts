// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRoles } from '#diagnose/check/reading/read-access.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';

test('a role without rules, which the API server writes as null, grants nothing', async () => {
  const client = recordedClient();
  const labels = { 'app.kubernetes.io/component': 'signer' };
  const metadata = { name: 'countersign-signer', uid: 'u', resourceVersion: '1', labels };
  client.answer(({ path }) =>
    Promise.resolve({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleList',
      metadata: { resourceVersion: '1' },
      items: path.includes('clusterroles') ? [{ metadata, rules: null }] : [],
    }),
  );
  const roles = await readRoles(client);
  assert.deepEqual('value' in roles && [...roles.value], [['signer', []]]);
});
