// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManagedNames } from '#trust/attester/managed-names.ts';

test('attester manages a name whose bundle it may write, as reviewed every ten minutes', async () => {
  let now = 0;
  const asked: string[] = [];
  const names = createManagedNames({
    clock: () => now,
    missingPermissions: ([rule]) => {
      const [name = ''] = rule?.resourceNames ?? [];
      asked.push(`${rule?.verbs.join() ?? ''} ${name}`);
      const lacks = { verb: 'delete', resource: 'clustertrustbundles', name, namespace: undefined };
      return Promise.resolve(name === 'evil' ? [lacks] : []);
    },
  });
  assert.equal(names.has('evil'), undefined);
  assert.equal(await names.review('ours'), true);
  assert.equal(await names.review('evil'), false);
  assert.equal(await names.review('evil'), false);
  assert.deepEqual(asked, ['update,delete ours', 'update,delete evil']);
  assert.deepEqual([names.has('ours'), names.has('evil')], [true, false]);
  now = 600_000;
  await names.review('evil');
  assert.equal(asked.length, 3);
});
