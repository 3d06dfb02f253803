// SPDX-License-Identifier: Apache-2.0
/**
 * A leaf is delivered only while its signer and its CA are those that signed it, and nobody refuses
 * its holder.
 */
import type { HolderRefusal } from '#ca/revocation/holders.ts';
import assert from 'node:assert/strict';
import type { KubeObject } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { SignerError } from '#base/errors.ts';
import { openIntermediate, openSuccessor } from '../../support/ca/intermediate.ts';
import { KeptRecords, nextTurn } from '../../support/ledger/kept-records.ts';
import type { Stage } from '../../support/requests/issuance-stage.ts';
import { forEachKind, leavesOf, type Kind } from './kinds.ts';

async function undelivered<T extends KubeObject>(
  kind: Kind<T>,
  authority: () => Authority = openIntermediate,
): Promise<Stage<T>> {
  const stage = kind.start({ authority });
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  return stage;
}

function handleAs<T>(
  { request, signer, handle }: Stage<T>,
  metadata: Partial<ClusterSigner['metadata']>,
): ReturnType<Stage<T>['handle']> {
  return handle(request, { ...signer, metadata: { ...signer.metadata, ...metadata } });
}

forEachKind('a leaf of a CA that was distrusted meanwhile is not delivered', async (kind) => {
  let distrusted = false;
  const stage = await undelivered(kind, () => {
    if (!distrusted) return openIntermediate();
    throw new SignerError({ code: 'AUTHORITY_INVALID', disposition: 'authority', message: '' });
  });
  distrusted = true;
  await assert.rejects(stage.handle(), { code: 'AUTHORITY_INVALID' });
  assert.deepEqual(stage.methods(), ['PUT', 'GET']);
});

const REFUSAL: HolderRefusal = {
  reason: 'HolderRevoked',
  message: 'a Revocation refuses the holder',
};

forEachKind(
  'a holder that a Revocation refuses gets no leaf, and the answer is final',
  async (kind) => {
    const stage = kind.start({ refusalOf: () => REFUSAL });
    const { outcome, reason, message, written } = await stage.handle();
    assert.ok(outcome === 'denied' || outcome === 'failed');
    assert.deepEqual({ reason, message }, REFUSAL);
    assert.ok(written !== undefined);
    assert.deepEqual(stage.methods(), ['PUT']);
    assert.deepEqual(stage.signed(), []);
    assert.match(JSON.stringify(stage.sent()), /a Revocation refuses the holder/);
  },
);

forEachKind(
  'a leaf that was signed before a Revocation refuses its holder is not delivered',
  async (kind) => {
    const refusals: HolderRefusal[] = [];
    const stage = kind.start({ refusalOf: () => refusals[0] });
    stage.server.troubles.push('unreachable');
    await assert.rejects(stage.handle());
    refusals.push(REFUSAL);
    const { reason } = await stage.handle();
    assert.equal(reason, 'HolderRevoked');
    assert.ok(stage.server.stored !== undefined);
    assert.equal(kind.chainOf(stage.server.stored), '');
  },
);

forEachKind('while nobody knows whom Revocations refuse, nothing is signed', async (kind) => {
  const unknown = new SignerError({
    code: 'REVOCATIONS_UNKNOWN',
    disposition: 'authority',
    message: '',
  });
  const stage = kind.start({
    refusalOf: () => {
      throw unknown;
    },
  });
  await assert.rejects(stage.handle(), { code: 'REVOCATIONS_UNKNOWN' });
  assert.deepEqual(stage.signed(), []);
  assert.deepEqual(stage.methods(), []);
});

forEachKind('after the CA was replaced, the new CA signs a new leaf', async (kind) => {
  let current = openIntermediate();
  const stage = await undelivered(kind, () => current);
  current = openSuccessor();
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['PUT', 'GET', 'PUT']);
  assert.equal(leavesOf(kind, stage), 2);
});

forEachKind('after the signer changed, a new leaf is decided', async (kind) => {
  const stage = await undelivered(kind);
  assert.equal((await handleAs(stage, { generation: 7 })).outcome, 'issued');
  assert.equal(leavesOf(kind, stage), 2);
});

forEachKind('after the signer was deleted and created, a new leaf is decided', async (kind) => {
  const stage = await undelivered(kind);
  assert.equal((await handleAs(stage, { uid: 'another' })).outcome, 'issued');
  assert.equal(leavesOf(kind, stage), 2);
});

forEachKind('a first write still under way cannot land beside the second one', async (kind) => {
  const stage = await undelivered(kind);
  await handleAs(stage, { generation: 7 });
  const versions = stage.sent().map(({ metadata }) => metadata.resourceVersion);
  const { resourceVersion } = stage.request.metadata;
  assert.deepEqual(versions, [resourceVersion, resourceVersion]);
});

type Change = 'the CA is distrusted' | 'the signer changes' | 'the signer is deleted';
const CHANGES: readonly Change[] = [
  'the CA is distrusted',
  'the signer changes',
  'the signer is deleted',
];

for (const change of CHANGES) {
  forEachKind(`${change} while the ledger records: the leaf is abandoned`, async (kind) => {
    const ledger = new KeptRecords();
    let isChanged = false;
    ledger.onBatch = () => {
      isChanged = true;
    };
    const stage = kind.start({
      recorder: ledger.recorder('required', 'signer'),
      authority: () => {
        if (!isChanged || change !== 'the CA is distrusted') return openIntermediate();
        throw new SignerError({ code: 'AUTHORITY_INVALID', disposition: 'authority', message: '' });
      },
      current: (signer) => {
        if (!isChanged || change === 'the CA is distrusted') return signer;
        if (change === 'the signer is deleted') return undefined;
        return { ...signer, metadata: { ...signer.metadata, generation: 7 } };
      },
    });
    await assert.rejects(stage.handle(), { code: 'SIGNER_CHANGED', disposition: 'retry' });
    await nextTurn();
    assert.ok(!stage.methods().includes('PUT'));
    assert.deepEqual(ledger.results(), ['abandoned']);
  });
}

forEachKind('a holder that is refused while the ledger records gets no leaf', async (kind) => {
  const ledger = new KeptRecords();
  const refusals: HolderRefusal[] = [];
  ledger.onBatch = () => refusals.push(REFUSAL);
  const recorder = ledger.recorder('required', 'signer');
  const stage = kind.start({ recorder, refusalOf: () => refusals[0] });
  await assert.rejects(stage.handle(), { code: 'SIGNER_CHANGED' });
  assert.ok(!stage.methods().includes('PUT'));
  assert.equal((await stage.handle()).reason, 'HolderRevoked');
  assert.deepEqual(ledger.results(), ['abandoned']);
});
