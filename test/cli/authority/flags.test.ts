// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countersign } from '../../support/cluster/countersign.ts';

// The component has a flag of that name, too.
test('a flag after a verb belongs to the verb', async () => {
  const { code, stderr } = await countersign(['authority', 'show', '--kubeconfig', '/nowhere']);
  assert.equal(code, 1);
  assert.match(stderr, /kubeconfig \/nowhere cannot be used/);
});

test('an unknown verb or flag, or an invalid number, is a usage error', async () => {
  const wrong = [
    ['shwo'],
    ['prepare', 'workload', 'people'],
    ['prepare'],
    ['revoke', 'workload'],
    ['prepare', 'workload', '--restart'],
    ['taint', 'workload', 'deadbeef', '--rate', '0'],
    ['show', '-o', 'xml'],
  ];
  const results = await Promise.all(wrong.map((args) => countersign(['authority', ...args])));
  for (const [index, { code, stdout }] of results.entries()) {
    assert.deepEqual([code, stdout], [2, ''], wrong[index]?.join(' '));
  }
});

test('an unknown verb prints the valid ones', async () => {
  const { stderr } = await countersign(['authority', 'rotate', 'workload']);
  assert.match(stderr, /unknown verb "rotate" .*show, prepare, activate, taint, revoke/);
});
