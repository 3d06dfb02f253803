// SPDX-License-Identifier: Apache-2.0
/** The anchors of an ExternalClusterSigner are judged before a certificate is ordered. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import { ISSUING, ROOT } from '../../support/ca/intermediate.ts';
import { POD, SIGNER, World, podObject, signerObject } from './world.ts';

/** The condition Ready with these anchors, and the number of orders for a pod. */
async function judged(anchors: string): Promise<[ready: Condition | undefined, orders: number]> {
  const it = new World();
  const { authority } = signerObject().spec as { readonly authority: object };
  it.api.put(SIGNER, signerObject({ authority: { ...authority, anchors } }));
  it.api.put(POD, podObject());
  await it.start();
  try {
    await it.advance(60_000);
    return [it.ready(), it.vault.orders.length];
  } finally {
    await it.stop();
  }
}

test('an intermediate as anchor: Ready names the verifiers that reject it', async () => {
  const [ready, orders] = await judged(ISSUING.toString());
  assert.deepEqual([ready?.status, ready?.reason], ['True', 'AnchorRejected']);
  assert.match(
    ready?.message ?? '',
    /"CN=issuing" is an anchor but not a root.*: rejected by OpenSSL, .*Node, Python.*spec\.authority\.anchors/,
  );
  assert.ok(orders > 0);
});

test('an intermediate beside its root is an anchor for every verifier', async () => {
  const [ready] = await judged(ISSUING.toString() + ROOT.toString());
  assert.deepEqual([ready?.status, ready?.reason], ['True', 'Checked']);
});

test('anchors that cannot be read: nothing is ordered, and Ready names the field', async () => {
  const [ready, orders] = await judged('no PEM');
  assert.deepEqual([ready?.status, ready?.reason], ['False', 'SpecInvalid']);
  assert.match(ready?.message ?? '', /^spec\.authority\.anchors: .*no certificate was ordered$/);
  assert.equal(orders, 0);
});
