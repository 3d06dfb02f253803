// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '../../../src/api/signer/cluster-signer.ts';
import type { Authority } from '../../../src/authorities/contract.ts';
import { SignerError } from '../../../src/errors.ts';
import { openIntermediate, openSuccessor } from '../../support/authorities/intermediate.ts';
import { workload } from '../../support/signers/workload-profile.ts';
import { start, type Stage } from './actor.ts';

const leaves = (stage: Stage): number =>
  new Set(stage.sent().map(({ status }) => status?.certificateChain)).size;

/** One leaf is signed that is not delivered. */
async function undelivered(authority: () => Authority): Promise<Stage> {
  const stage = start({ authority });
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  return stage;
}

test('a leaf of a CA that was distrusted meanwhile is not delivered', async () => {
  let distrusted = false;
  const stage = await undelivered(() => {
    if (!distrusted) return openIntermediate();
    throw new SignerError({ code: 'AUTHORITY_INVALID', disposition: 'authority', message: '' });
  });
  distrusted = true;
  await assert.rejects(stage.handle(), { code: 'AUTHORITY_INVALID' });
  assert.deepEqual(stage.methods(), ['PUT', 'GET']);
});

test('a leaf of a CA that was replaced meanwhile is not delivered: the new CA signs', async () => {
  let current = openIntermediate();
  const stage = await undelivered(() => current);
  current = openSuccessor();
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['PUT', 'GET', 'PUT']);
  assert.equal(leaves(stage), 2);
});

const others: [law: string, metadata: Partial<ClusterSigner['metadata']>][] = [
  ['changed', { generation: 7 }],
  ['made anew', { uid: 'another' }],
];

for (const [law, metadata] of others) {
  test(`a leaf of a ClusterSigner that was ${law} meanwhile is decided anew`, async () => {
    const stage = await undelivered(openIntermediate);
    const outcome = await stage.handle(stage.request, workload({}, { metadata }));
    assert.equal(outcome.outcome, 'issued');
    assert.equal(leaves(stage), 2);
  });
}

test('a first write that is still under way cannot land beside the new one', async () => {
  const stage = await undelivered(openIntermediate);
  await stage.handle(stage.request, workload({}, { metadata: { generation: 7 } }));
  const versions = stage.sent().map(({ metadata }) => metadata.resourceVersion);
  assert.deepEqual(versions, ['7', '7']);
});
