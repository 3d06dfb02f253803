// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { resolveNameConflicts } from '#api/signer/name-conflict.ts';
import { clusterSigner, workloadSpec } from '../../support/signers/cluster-signer.ts';
import { readClusterSigner } from '#api/signer/read-signer.ts';

const workload = readClusterSigner(clusterSigner(workloadSpec()));

const candidate = (name: string, created: string, uid: string): ClusterSigner => ({
  ...workload,
  metadata: { ...workload.metadata, name, uid, creationTimestamp: created },
});
const early = '2026-11-21T06:00:00Z';
const late = '2026-11-21T06:00:01Z';

test('the oldest ClusterSigner serves, and the others conflict with it by name', () => {
  const elder = candidate('elder', early, 'z');
  const { serving, conflicting } = resolveNameConflicts([candidate('younger', late, 'a'), elder]);
  assert.equal(serving.get('example.com/workload'), elder);
  assert.deepEqual([...conflicting], [['younger', 'elder']]);
});

test('of two created in the same second, the one with the smaller UID serves', () => {
  const { conflicting } = resolveNameConflicts([
    candidate('b', early, '2'),
    candidate('a', early, '1'),
  ]);
  assert.deepEqual([...conflicting], [['b', 'a']]);
});

test('different signer names do not conflict', () => {
  const spec = { ...workload.spec, signerName: 'example.com/people' };
  const other = { ...candidate('other', late, '2'), spec };
  const { serving, conflicting } = resolveNameConflicts([candidate('one', early, '1'), other]);
  assert.equal(serving.size, 2);
  assert.equal(conflicting.size, 0);
});

test('the order of the list does not change which ClusterSigner serves', () => {
  const signers = fc.uniqueArray(
    fc.record({ uid: fc.string({ minLength: 1 }), created: fc.constantFrom(early, late) }),
    { selector: (each) => each.uid, minLength: 1, maxLength: 6 },
  );
  fc.assert(
    fc.property(signers, fc.infiniteStream(fc.nat()), (rows, keys) => {
      const all = rows.map(({ uid, created }) => candidate(`n-${uid}`, created, uid));
      const shuffled = all
        .map((each) => ({ each, key: keys.next().value as number }))
        .sort((a, b) => a.key - b.key)
        .map(({ each }) => each);
      const [a, b] = [resolveNameConflicts(all), resolveNameConflicts(shuffled)];
      assert.deepEqual([...a.serving], [...b.serving]);
      assert.deepEqual(new Map([...a.conflicting].sort()), new Map([...b.conflicting].sort()));
      assert.equal(a.conflicting.size, all.length - 1);
    }),
  );
});
