// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  HOUR,
  LONGEST,
  NOW,
  RETAIN,
  anchor,
  annotated,
  planOf,
  served,
  signerWith,
} from '../../support/controllers/bundles.ts';

const A = anchor('A');
const published = served(planOf({ signer: signerWith([A.pem], '24h') }));
/** The longest leaf, ten minutes in which one may be made late, and five of a late verifier. */
const LAST = 24 * HOUR + 15 * 60_000;

test('the bundle of a removed ClusterSigner stays until its longest leaf has expired', () => {
  const plan = planOf({ bundle: published });
  assert.ok(plan.kind === 'update' && !plan.repaired);
  assert.deepEqual(plan.bundle.spec, published.spec);
  assert.equal(plan.bundle.metadata.resourceVersion, '7');
  const until = Date.parse(plan.bundle.metadata.annotations?.[RETAIN] ?? '');
  assert.ok(until >= NOW + LAST, 'a leaf of the last moment would outlive it');
  assert.ok(until <= NOW + LAST + 1000);
  const waiting = planOf({ bundle: served(plan), now: until - 1 });
  assert.deepEqual(waiting, { kind: 'ignore', requeueAt: until });
});

test('it goes as soon as that time has come, fenced by what was seen', () => {
  const bundle = annotated(published, { [RETAIN]: '2026-11-21T09:00:00Z' });
  assert.deepEqual(planOf({ bundle, now: NOW - 500 }), { kind: 'delete', bundle });
});

test('it is looked at again no sooner than it may go', () => {
  const plan = planOf({ bundle: published });
  assert.ok(plan.kind === 'update' && plan.requeueAt !== undefined);
  const later = planOf({ bundle: served(plan), now: plan.requeueAt });
  assert.equal(later.kind, 'delete');
});

test('a time that cannot be read is written anew, and nothing is deleted', () => {
  const plan = planOf({ bundle: annotated(published, { [RETAIN]: 'soon' }) });
  assert.ok(plan.kind === 'update');
  assert.ok(Date.parse(plan.bundle.metadata.annotations?.[RETAIN] ?? '') >= NOW + LAST);
});

test('the longest leaf only grows: a shorter profile does not let trust end sooner', () => {
  const plan = planOf({ signer: signerWith([A.pem], '48h'), bundle: published });
  const longer = served(plan);
  assert.equal(longer.metadata.annotations?.[LONGEST], '48h');
  const shorter = planOf({ signer: signerWith([A.pem], '1h'), bundle: longer });
  assert.deepEqual(shorter, { kind: 'ignore' });
});

const unread: [law: string, text: string | undefined][] = [
  ['none', undefined],
  ['no duration', 'long'],
  ['no time at all', '0s'],
];

for (const [law, text] of unread) {
  test(`where nobody knows the longest leaf, the bundle stays until its last anchor ends: ${law}`, () => {
    const plan = planOf({ bundle: annotated(published, { [LONGEST]: text }) });
    assert.ok(plan.kind === 'update');
    // What certificateDer writes into every certificate.
    assert.equal(plan.bundle.metadata.annotations?.[RETAIN], '2027-01-01T00:00:00Z');
  });
}

test('where neither the longest leaf nor an anchor can be read, nothing is concluded', () => {
  const bundle = annotated(published, { [LONGEST]: undefined });
  const broken = { ...bundle, spec: { ...bundle.spec, trustBundle: 'nothing' } };
  assert.deepEqual(planOf({ bundle: broken }), { kind: 'ignore' });
});

test('who is wanted again is not retired any more', () => {
  const bundle = annotated(published, { [RETAIN]: '2026-11-21T09:00:00Z' });
  const plan = planOf({ signer: signerWith([A.pem]), bundle });
  assert.ok(plan.kind === 'update' && !plan.repaired);
  assert.equal(plan.bundle.metadata.annotations?.[RETAIN], undefined);
});

const past = annotated(published, { [RETAIN]: '2026-11-21T08:00:00Z' });

test('a bundle of another installation is left alone, though nobody here wants it', () => {
  assert.deepEqual(planOf({ bundle: past, secretNamespace: 'other-keys' }), { kind: 'ignore' });
});

test('a bundle that nobody marked is left alone', () => {
  const bundle = annotated(past, { 'countersign.dev/cluster-signer': undefined });
  assert.deepEqual(planOf({ bundle }), { kind: 'ignore' });
});

test('while its ClusterSigner is there and cannot be read, nothing is concluded', () => {
  assert.deepEqual(planOf({ bundle: past, unreadable: true }), { kind: 'ignore' });
  assert.deepEqual(planOf({ bundle: published, unreadable: true }), { kind: 'ignore' });
});

test('where there is no bundle and nobody wants one, there is nothing to do', () => {
  assert.deepEqual(planOf({}), { kind: 'ignore' });
});

test('a bundle whose name our role does not list is left alone, whatever it says of itself', () => {
  assert.deepEqual(planOf({ bundle: past, isListed: false }), { kind: 'ignore' });
  assert.deepEqual(planOf({ bundle: published, isListed: false }), { kind: 'ignore' });
});

test('a time that is later than we would write today is ours to correct', () => {
  const forged = annotated(published, { [RETAIN]: '9999-12-31T00:00:00Z' });
  const plan = planOf({ bundle: forged });
  assert.ok(plan.kind === 'update');
  assert.ok(Date.parse(plan.bundle.metadata.annotations?.[RETAIN] ?? '') <= NOW + LAST + 1000);
});
