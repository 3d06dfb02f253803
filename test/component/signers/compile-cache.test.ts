// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { SignerError } from '#base/errors.ts';
import { compileOncePerGeneration } from '#component/signers/compile-cache.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { workload } from '../../support/signers/workload-profile.ts';

/** Counts how often it compiles; throws what it is told to. */
function counted(failure?: Error): {
  readonly get: (of: ClusterSigner) => object;
  readonly times: () => number;
} {
  let times = 0;
  const get = compileOncePerGeneration(() => {
    times += 1;
    if (failure !== undefined) throw failure;
    return {};
  });
  return { get, times: () => times };
}

const generation = (number: number): ClusterSigner =>
  workload({}, { metadata: { generation: number } });

test('each generation is compiled once, whatever else changes in the object', () => {
  const { get, times } = counted();
  const first = get(generation(1));
  const status = { conditions: [] };
  assert.equal(
    get(workload({}, { metadata: { generation: 1, resourceVersion: '9' }, status })),
    first,
  );
  assert.equal(times(), 1);
});

test('another generation is compiled again', () => {
  const { get } = counted();
  assert.notEqual(get(generation(1)), get(generation(2)));
});

test('a ClusterSigner recreated under the same name is compiled again', () => {
  const { get } = counted();
  assert.notEqual(get(workload()), get(workload({}, { metadata: { uid: 'another' } })));
});

test('two ClusterSigners do not evict each other', () => {
  const { get, times } = counted();
  const other = workload({}, { metadata: { name: 'other' } });
  const [first, second] = [get(workload()), get(other)];
  assert.deepEqual([get(workload()) === first, get(other) === second, times()], [true, true, 2]);
});

test('Signers of one name in two namespaces do not evict each other', () => {
  const { get, times } = counted();
  const [ours, theirs] = [teamSigner({ uid: 'a' }), teamSigner({ namespace: 'team-b', uid: 'b' })];
  const [first, second] = [get(ours), get(theirs)];
  assert.deepEqual([get(ours) === first, get(theirs) === second, times()], [true, true, 2]);
});

test('a failed compilation is not repeated: the same error is thrown again', () => {
  const error = new SignerError({ code: 'CEL_INVALID', disposition: 'wait', message: 'no' });
  const { get, times } = counted(error);
  for (let look = 0; look < 3; look += 1) {
    assert.throws(
      () => get(workload()),
      (thrown) => thrown === error,
    );
  }
  assert.equal(times(), 1);
});

test('an unexpected error is thrown and not cached', () => {
  const { get, times } = counted(new TypeError('a fault of ours'));
  for (let look = 0; look < 2; look += 1) assert.throws(() => get(workload()), TypeError);
  assert.equal(times(), 2);
});
