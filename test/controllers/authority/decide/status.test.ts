// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthorityStatus, ClusterSigner } from '../../../../src/api/signer/cluster-signer.ts';
import type { SignerPlan } from '../../../../src/controllers/authority/decide/decide.ts';
import { NOW } from '../../../support/pki/chain.ts';
import { workload } from '../../../support/signers/workload-profile.ts';
import {
  A,
  B,
  BELOW,
  after,
  certificate,
  fingerprintOf,
  planOf,
  readyOf,
  secret,
} from '../../../support/controllers/ca-secrets.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The longest leaf, and ten minutes in which the signer need not have heard of it yet. */
const RETIRED = DAY + 10 * 60_000;
/** A verifier's clock may be late by five minutes. */
const GONE = RETIRED + 5 * 60_000;

function authorities({ status }: SignerPlan): readonly [AuthorityStatus, ...AuthorityStatus[]] {
  const [first, ...rest] = status.authorities ?? [];
  assert.ok(first !== undefined);
  return [first, ...rest];
}

/** What is decided once the Secret holds B instead of A. */
const rotated = (signer: ClusterSigner, now = NOW): SignerPlan =>
  planOf({ signer, now, secret: { kind: 'found', secret: secret(B) } });

test('the CA that signs is there with its public half: times, anchors, nothing of its key', () => {
  const plan = planOf();
  const [active, ...more] = authorities(plan);
  assert.deepEqual(more, []);
  assert.equal(active.fingerprint, fingerprintOf(A));
  assert.equal(active.phase, 'Active');
  assert.equal(Date.parse(active.notBefore), certificate(A).validFromDate.getTime());
  assert.equal(Date.parse(active.notAfter), certificate(A).validToDate.getTime());
  assert.equal(active.longestLeaf, '24h');
  assert.equal(active.anchors, certificate(A).toString());
  assert.ok(!JSON.stringify(plan.status).includes('PRIVATE'));
});

test('of an intermediate the anchor is its root, not itself', () => {
  const texts = { 'ca.crt': certificate(A).toString() };
  const plan = planOf({ secret: { kind: 'found', secret: secret(BELOW, texts) } });
  const [active] = authorities(plan);
  assert.equal(active.fingerprint, fingerprintOf(BELOW));
  assert.equal(active.anchors, certificate(A).toString());
});

test('a second look at the same makes the same status, however late', () => {
  const first = planOf();
  assert.deepEqual(planOf({ signer: after(first), now: NOW + HOUR }).status, first.status);
});

test('the time of the condition is that of the last change of its status', () => {
  const first = planOf({ secret: { kind: 'missing' } });
  const second = planOf({ signer: after(first), elder: 'first', now: NOW + HOUR });
  assert.equal(readyOf(second).lastTransitionTime, '2026-06-01T00:00:00Z');
  const third = planOf({ signer: after(second), now: NOW + HOUR });
  assert.equal(readyOf(third).lastTransitionTime, '2026-06-01T01:00:00Z');
});

test('a CA that no longer signs stays trusted until its longest leaf has expired, even one signed late', () => {
  const [active, retiring] = authorities(rotated(after(planOf())));
  assert.deepEqual([active.fingerprint, active.phase], [fingerprintOf(B), 'Active']);
  assert.deepEqual([retiring?.fingerprint, retiring?.phase], [fingerprintOf(A), 'Retiring']);
  assert.equal(Date.parse(retiring?.leavesExpireBy ?? ''), NOW + RETIRED);
  assert.equal(retiring?.anchors, certificate(A).toString());
});

test('its end does not move by looking again, and it goes when that has come', () => {
  const signer = after(rotated(after(planOf())));
  const [, kept] = authorities(rotated(signer, NOW + GONE - 1000));
  assert.equal(Date.parse(kept?.leavesExpireBy ?? ''), NOW + RETIRED);
  assert.equal(authorities(rotated(signer, NOW + GONE)).length, 1);
});

test('somebody looks again at that very moment, though nothing else changes', () => {
  assert.equal(rotated(after(planOf())).requeueAt, NOW + GONE);
});

test('the longest leaf only grows: a shorter profile makes no living leaf die', () => {
  const shorter = workload({ 'profile.maxDuration': '2h' });
  const signer = after(planOf(), shorter);
  assert.equal(authorities(planOf({ signer }))[0].longestLeaf, '24h');
  const longer = workload({ 'profile.maxDuration': '48h' });
  assert.equal(authorities(planOf({ signer: after(planOf(), longer) }))[0].longestLeaf, '48h');
});

test('no leaf outlives its CA: a CA that ends sooner is retired no longer than that', () => {
  const end = certificate(A).validToDate.getTime();
  const [, retiring] = authorities(rotated(after(planOf()), end - HOUR));
  assert.equal(Date.parse(retiring?.leavesExpireBy ?? ''), end);
});

test('a CA that signs again is Active again, once', () => {
  const back = planOf({ signer: after(rotated(after(planOf()))) });
  const phases = authorities(back).map(({ fingerprint, phase }) => [fingerprint, phase]);
  assert.deepEqual(phases, [
    [fingerprintOf(A), 'Active'],
    [fingerprintOf(B), 'Retiring'],
  ]);
});

test('while no usable CA is known nothing is concluded: all stay as they are', () => {
  const signer = after(rotated(after(planOf())));
  const broken = { kind: 'found', secret: secret(A, { 'tls.key': 'x' }) } as const;
  for (const look of [broken, { kind: 'missing' } as const]) {
    const plan = planOf({ signer, secret: look, now: NOW + DAY });
    assert.deepEqual(plan.status.authorities, signer.status?.authorities);
  }
});
