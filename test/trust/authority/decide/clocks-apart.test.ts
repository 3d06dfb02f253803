// SPDX-License-Identifier: Apache-2.0
/**
 * ADR 0020: while our clock and the API server's contradict each other nothing ends by time, and
 * nothing is made; distrust does not wait.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { findCondition } from '#api/request/conditions.ts';
import { ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { formatTime } from '#api/object/time.ts';
import { NOW } from '../../../support/pki/chain.ts';
import { workload } from '../../../support/signers/workload-profile.ts';
import {
  A,
  B,
  OURS,
  after,
  fingerprintOf,
  planOf,
  secret,
} from '../../../support/trust/ca-secrets.ts';
import type { SignerSnapshot } from '#trust/authority/decide/snapshot.ts';

const YEAR = 365 * 86_400_000;
const ofA = { kind: 'found', secret: secret(A, {}, OURS) } as const;
const ofB = { kind: 'found', secret: secret(B, {}, OURS) } as const;

const phasesOf = (snapshot: Partial<SignerSnapshot>): readonly string[] =>
  (planOf(snapshot).status.authorities ?? []).map(({ phase }) => phase);

/** A signs; somebody asked for another. */
const asked: ClusterSigner = {
  ...after(planOf({ secret: ofA })),
  metadata: { ...workload().metadata, annotations: { [ROTATE_AT]: formatTime(NOW) } },
};
const due = { signer: asked, secret: ofA };

test('a due CA is replaced only after the clocks agree, with a condition until then', () => {
  const plan = planOf({ ...due, clocksApart: true });
  assert.equal(plan.step, undefined);
  const { message = '' } = findCondition(plan.status.conditions, 'RotationDue') ?? {};
  assert.match(
    message,
    /it waits: the clocks of this process and of the API server differ too much/,
  );
  assert.ok(plan.requeueAt !== undefined && plan.requeueAt <= NOW + 60_000);
  assert.notEqual(planOf(due).step, undefined);
});

test('no CA is generated while the clocks disagree: its validity could be wrong', () => {
  assert.equal(planOf({ secret: { kind: 'missing' }, clocksApart: true }).step, undefined);
  assert.equal(planOf({ secret: { kind: 'missing' } }).step?.kind, 'make');
});

test('a CA that a wrong clock takes for expired keeps its key', () => {
  const later = { ...due, now: NOW + 50 * YEAR };
  assert.equal(planOf({ ...later, clocksApart: true }).step, undefined);
  assert.equal(planOf(later).step?.kind, 'make');
});

/** B has taken A's place; A's last leaf is reckoned with. */
const replaced = after(planOf({ signer: after(planOf({ secret: ofA })), secret: ofB }));

test('a retired CA and its anchor stay while the clocks disagree', () => {
  const later = { signer: replaced, secret: ofB, now: NOW + 2 * 86_400_000 };
  assert.deepEqual(phasesOf({ ...later, clocksApart: true }), ['Active', 'Retiring']);
  assert.deepEqual(phasesOf(later), ['Active']);
});

test('no CA starts to retire while the clocks disagree', () => {
  const snapshot = { signer: after(planOf({ secret: ofA })), secret: ofB };
  assert.deepEqual(phasesOf({ ...snapshot, clocksApart: true }), ['Active', 'Active']);
  assert.deepEqual(phasesOf(snapshot), ['Active', 'Retiring']);
});

test('distrust replaces a CA and removes its anchor while the clocks disagree', () => {
  const { spec } = workload({ 'authority.managed.distrusted': [fingerprintOf(A)] });
  const snapshot = { signer: { ...after(planOf({ secret: ofA })), spec }, secret: ofA };
  const plan = planOf({ ...snapshot, clocksApart: true });
  assert.ok(plan.step?.kind === 'make' && plan.step.slot === 'tls' && plan.step.atOnce);
  assert.deepEqual(phasesOf({ ...snapshot, clocksApart: true }), ['Distrusted']);
});
