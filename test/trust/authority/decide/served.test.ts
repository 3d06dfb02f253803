// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition, type Condition } from '#api/request/conditions.ts';
import type { ServingFinding } from '#trust/authority/serving/serving-of.ts';
import type { SignerPlan } from '#trust/authority/decide/decide.ts';
import { planOf } from '../../../support/trust/ca-secrets.ts';
import { workload } from '../../../support/signers/workload-profile.ts';

const SERVED: ServingFinding = { status: 'True', reason: 'Served', message: 'served' };
const LOST: ServingFinding = {
  status: 'False',
  reason: 'MissingPermissions',
  message: 'signer: lacks',
};
const OBSERVATION_PENDING: ServingFinding = {
  status: 'Unknown',
  reason: 'ObservationPending',
  message: 'not yet',
};

const of = ({ status }: SignerPlan, type: string): Condition | undefined =>
  findCondition(status.conditions, type);
const wordOf = (plan: SignerPlan, type: string): string => {
  const found = of(plan, type);
  return `${found?.status ?? ''} ${found?.reason ?? ''}`.trim();
};

/** What is decided after `before` was written. */
function after(before: SignerPlan, more: Parameters<typeof planOf>[0]): SignerPlan {
  return planOf({ signer: { ...workload(), status: before.status }, ...more });
}

test('a signer that a component does not serve is not Ready, and says why', () => {
  const plan = planOf({ serving: LOST });
  assert.equal(wordOf(plan, 'Ready'), 'False NotServed');
  assert.equal(wordOf(plan, 'Served'), 'False MissingPermissions');
  assert.equal(of(plan, 'Ready')?.message, 'signer: lacks');
  assert.equal(wordOf(after(plan, { serving: SERVED }), 'Ready'), 'True Checked');
});

test('a fault of the CA is the reason of Ready, whatever component serves', () => {
  const plan = planOf({ serving: LOST, secret: { kind: 'unknown', failure: 'gone' } });
  assert.equal(wordOf(plan, 'Ready'), 'False AuthorityUnavailable');
});

test('a new signer is not Ready before every component has looked at it', () => {
  assert.equal(
    wordOf(planOf({ serving: OBSERVATION_PENDING }), 'Ready'),
    'False AwaitingComponents',
  );
});

for (const before of [SERVED, LOST]) {
  test(`while a component looks again, ${before.status} stays what it was`, () => {
    const plan = planOf({ serving: before });
    const next = after(plan, { serving: OBSERVATION_PENDING });
    for (const type of ['Ready', 'Served']) assert.equal(wordOf(next, type), wordOf(plan, type));
  });
}

test('without Leases nothing is said of the components, and Ready follows the CA', () => {
  const plan = after(planOf({ serving: LOST }), { serving: undefined });
  assert.equal(of(plan, 'Served'), undefined);
  assert.equal(wordOf(plan, 'Ready'), 'True Checked');
});

test('a Secret that cannot be read now hides neither a lost component nor its return', () => {
  const unread = { secret: { kind: 'unknown', failure: 'away' } } as const;
  const lost = after(planOf({ serving: SERVED }), { ...unread, serving: LOST });
  assert.equal(wordOf(lost, 'Ready'), 'False NotServed');
  assert.equal(wordOf(after(lost, { ...unread, serving: SERVED }), 'Ready'), 'True Checked');
});

test('a fault that no request waits for is Degraded, and the signer stays Ready', () => {
  const attention = { reason: 'MissingPermissions', message: 'signer: lacks: create events' };
  const secret = { namespace: 'countersign-keys', name: 'workload-ca' };
  const signer = workload({ authority: { secret } });
  const plan = planOf({ signer, serving: { ...SERVED, attention } });
  assert.equal(wordOf(plan, 'Degraded'), 'True MissingPermissions');
  assert.equal(wordOf(plan, 'Ready'), 'True Checked');
});
