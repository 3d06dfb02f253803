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
} from '../../support/trust/bundles.ts';

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

test('the bundle is deleted, with its preconditions, as soon as that time has come', () => {
  const bundle = annotated(published, { [RETAIN]: '2026-11-21T09:00:00Z' });
  assert.deepEqual(planOf({ bundle, now: NOW - 500 }), { kind: 'delete', bundle });
});

test('the bundle is looked at again when it may be deleted, not earlier', () => {
  const plan = planOf({ bundle: published });
  assert.ok(plan.kind === 'update' && plan.requeueAt !== undefined);
  const later = planOf({ bundle: served(plan), now: plan.requeueAt });
  assert.equal(later.kind, 'delete');
});

test('an unreadable retention time is replaced, and nothing is deleted', () => {
  const plan = planOf({ bundle: annotated(published, { [RETAIN]: 'soon' }) });
  assert.ok(plan.kind === 'update');
  assert.ok(Date.parse(plan.bundle.metadata.annotations?.[RETAIN] ?? '') >= NOW + LAST);
});

test('the longest-leaf annotation only grows: a shorter profile does not shorten trust', () => {
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
  test(`without a known longest leaf, the last anchor ends the bundle: ${law}`, () => {
    const plan = planOf({ bundle: annotated(published, { [LONGEST]: text }) });
    assert.ok(plan.kind === 'update');
    // What certificateDer writes into every certificate.
    assert.equal(plan.bundle.metadata.annotations?.[RETAIN], '2027-01-01T00:00:00Z');
  });
}

test('if neither the longest leaf nor an anchor can be read, the bundle stays', () => {
  const bundle = annotated(published, { [LONGEST]: undefined });
  const broken = { ...bundle, spec: { ...bundle.spec, trustBundle: 'nothing' } };
  assert.deepEqual(planOf({ bundle: broken }), { kind: 'ignore' });
});

test('a bundle that is wanted again loses its retention time', () => {
  const bundle = annotated(published, { [RETAIN]: '2026-11-21T09:00:00Z' });
  const plan = planOf({ signer: signerWith([A.pem]), bundle });
  assert.ok(plan.kind === 'update' && !plan.repaired);
  assert.equal(plan.bundle.metadata.annotations?.[RETAIN], undefined);
});

const past = annotated(published, { [RETAIN]: '2026-11-21T08:00:00Z' });

test('a bundle of another installation is left alone, even if unused', () => {
  assert.deepEqual(planOf({ bundle: past, secretNamespace: 'other-keys' }), { kind: 'ignore' });
});

test('a bundle without our annotations is left alone', () => {
  const bundle = annotated(past, { 'countersign.dev/cluster-signer': undefined });
  assert.deepEqual(planOf({ bundle }), { kind: 'ignore' });
});

test('while its ClusterSigner cannot be read, the bundle stays', () => {
  assert.deepEqual(planOf({ bundle: past, unreadable: true }), { kind: 'ignore' });
  assert.deepEqual(planOf({ bundle: published, unreadable: true }), { kind: 'ignore' });
});

test('without a bundle and without a ClusterSigner there is nothing to do', () => {
  assert.deepEqual(planOf({}), { kind: 'ignore' });
});

test('attester leaves a bundle alone if its name is not in the ClusterRole', () => {
  assert.deepEqual(planOf({ bundle: past, isListed: false }), { kind: 'ignore' });
  assert.deepEqual(planOf({ bundle: published, isListed: false }), { kind: 'ignore' });
});

test('a retention time beyond the longest possible one is corrected', () => {
  const forged = annotated(published, { [RETAIN]: '9999-12-31T00:00:00Z' });
  const plan = planOf({ bundle: forged });
  assert.ok(plan.kind === 'update');
  assert.ok(Date.parse(plan.bundle.metadata.annotations?.[RETAIN] ?? '') <= NOW + LAST + 1000);
});

/** What the API server allows, and what a kubelet skips (RFC 7468 §5.2). */
const explained = (pem: string): string => `of the Ministry of Trust:\n${pem}\u202ethe end`;

test('an anchor that strict readers cannot see bounds the bundle’s time too', () => {
  const hidden = { ...published, spec: { ...published.spec, trustBundle: explained(A.pem) } };
  const plan = planOf({ bundle: annotated(hidden, { [LONGEST]: '876000h' }) });
  assert.ok(plan.kind === 'update');
  // What certificateDer writes into every certificate.
  assert.equal(plan.bundle.metadata.annotations?.[RETAIN], '2027-01-01T00:00:00Z');
  const forever = annotated(hidden, { [LONGEST]: '876000h', [RETAIN]: '9999-12-31T00:00:00Z' });
  const forged = planOf({ bundle: forever });
  assert.ok(forged.kind === 'update');
  assert.equal(forged.bundle.metadata.annotations?.[RETAIN], '2027-01-01T00:00:00Z');
});

test('without a readable anchor, a bundle stays no longer than a pod’s leaf lives', () => {
  const broken = { ...published, spec: { ...published.spec, trustBundle: 'nothing' } };
  const plan = planOf({ bundle: annotated(broken, { [LONGEST]: '876000h' }) });
  assert.ok(plan.kind === 'update');
  const until = Date.parse(plan.bundle.metadata.annotations?.[RETAIN] ?? '');
  assert.ok(until <= NOW + 91 * 24 * HOUR + HOUR);
});
