// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition } from '#api/request/conditions.ts';
import { workload } from '../../../support/signers/workload-profile.ts';
import {
  A,
  B,
  OURS,
  after,
  fingerprintOf,
  planOf,
  readyOf,
  secret,
} from '../../../support/trust/ca-secrets.ts';

const distrusting = (print: string, more: object = {}): ReturnType<typeof workload> =>
  workload({ 'authority.managed.distrusted': [print], ...more });
const signer = distrusting(fingerprintOf(A));
const ours = { kind: 'found', secret: secret(A, {}, OURS) } as const;

test('a distrusted CA stops signing, and its replacement signs at once', () => {
  const plan = planOf({ signer: { ...after(planOf()), spec: signer.spec }, secret: ours });
  assert.deepEqual([readyOf(plan).status, readyOf(plan).reason], ['False', 'AuthorityUnavailable']);
  assert.match(readyOf(plan).message ?? '', /distrusted names/);
  assert.ok(plan.step?.kind === 'make' && plan.step.slot === 'tls' && plan.step.atOnce);
  assert.deepEqual(
    plan.status.authorities?.map(({ phase }) => phase),
    ['Distrusted'],
  );
});

test('deleting the Secret of a distrusted CA has the same result', () => {
  const known = { ...after(planOf()), spec: signer.spec };
  const plan = planOf({ signer: known, secret: { kind: 'missing' } });
  assert.ok(plan.step?.kind === 'make' && plan.step.slot === 'tls' && plan.step.atOnce);
});

test('a Secret of another owner is not written, even if its CA is distrusted', () => {
  assert.equal(planOf({ signer }).step, undefined);
});

test('a CA that is not the distrusted one is used', () => {
  const { conditions } = planOf({ signer: distrusting(fingerprintOf(B)) }).status;
  assert.equal(findCondition(conditions, 'Ready')?.status, 'True');
});
