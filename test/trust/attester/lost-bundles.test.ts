// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLostBundles } from '#trust/attester/lost-bundles.ts';
import { anchor, planOf, served, signerWith } from '../../support/trust/bundles.ts';

const BUNDLE = served(planOf({ signer: signerWith([anchor('A').pem]) }));
const { name, uid } = BUNDLE.metadata;

test('attester remembers a deleted bundle for a minute, by a monotonic clock', () => {
  let now = 0;
  const lost = createLostBundles(() => now);
  assert.equal(lost.of(name), undefined);
  lost.gone(BUNDLE);
  now = 59_999;
  assert.equal(lost.of(name), BUNDLE);
  now = 60_000;
  assert.equal(lost.of(name), undefined);
});

for (const order of ['before', 'after'] as const) {
  test(`a bundle that attester deleted is not lost if the watch is ${order} the answer`, () => {
    const lost = createLostBundles(() => 0);
    if (order === 'before') lost.gone(BUNDLE);
    lost.ours(uid);
    if (order === 'after') lost.gone(BUNDLE);
    assert.equal(lost.of(name), undefined);
  });
}
