// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition } from '../../../src/api/conditions.ts';
import { workload } from '../../support/signer.ts';
import { A, B, fingerprintOf, planOf } from './secrets.ts';

test('a ClusterSigner whose CA is distrusted is not ready, and is told how to get another', () => {
  const signer = workload({ 'authority.managed.distrusted': [fingerprintOf(A)] });
  const plan = planOf({ signer });
  const ready = findCondition(plan.status.conditions, 'Ready');
  assert.equal(ready?.status, 'False');
  assert.equal(ready.reason, 'AuthorityUnavailable');
  assert.match(ready.message ?? '', /distrusted names; delete the Secret/);
  assert.equal(plan.createSecret, false);
  const gone = planOf({ signer, secret: { kind: 'missing' } });
  assert.ok(gone.createSecret);
});

test('another CA than the distrusted one is used', () => {
  const signer = workload({ 'authority.managed.distrusted': [fingerprintOf(B)] });
  const { conditions } = planOf({ signer }).status;
  assert.equal(findCondition(conditions, 'Ready')?.status, 'True');
});
