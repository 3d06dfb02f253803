// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesOf } from '#component/rbac/permission-names.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { workload } from '../../support/signers/workload-profile.ts';

test('the permission check covers ClusterSigners only, not Signers or their Secrets', () => {
  const names = namesOf([workload(), teamSigner()], { leases: undefined, namespacedSigners: true });
  assert.deepEqual(names.signerNames, ['example.com/workload']);
  assert.deepEqual(names.secrets, [{ namespace: 'countersign-keys', name: 'workload-ca' }]);
  assert.equal(names.signerSecrets, undefined);
});
