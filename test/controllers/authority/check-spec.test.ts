// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSpec, nextCheck } from '../../../src/controllers/authority/check-spec.ts';
import { SignerError } from '../../../src/errors.ts';
import { Overrun, budgetSpent, turnsTaken } from '../../../src/runtime/signers/put-off.ts';
import { after, planOf, readyOf } from '../../support/controllers/ca-secrets.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const dearest = { signer: 'web', where: 'spec.pods.allow', ms: 12 };
const spent = budgetSpent('team-a', { waitMs: 700, dearest });

function throwing(error: Error): () => never {
  return () => {
    throw error;
  };
}

test('a spec that compiles has no fault', async () => {
  assert.deepEqual(await checkSpec(() => undefined, teamSigner()), {
    specError: undefined,
    putOff: undefined,
    againInMs: undefined,
  });
});

test('a spec that does not compile is invalid until it changes', async () => {
  const error = new SignerError({ code: 'CEL_INVALID', disposition: 'wait', message: 'no' });
  const { specError, againInMs } = await checkSpec(throwing(error), teamSigner());
  assert.deepEqual([specError, againInMs], [error, undefined]);
});

test('a spec that takes too long to compile is invalid, and is tried again after a while', async () => {
  const overrun = new Overrun('compile', 'spec.pods.allow');
  const { specError, againInMs } = await checkSpec(throwing(overrun), teamSigner());
  assert.deepEqual([specError, againInMs], [overrun, 300_000]);
});

test('a Signer whose namespace has spent its budget says so, with the field', async () => {
  const { putOff, specError, againInMs } = await checkSpec(throwing(spent), teamSigner());
  assert.deepEqual([specError, againInMs], [undefined, 700]);
  const ready = readyOf(planOf({ putOff }));
  assert.deepEqual([ready.status, ready.reason], ['False', 'CelBudgetSpent']);
  assert.match(ready.message ?? '', /spec\.pods\.allow of Signer team-a\/web/);
});

test('a signer that has compiled in this generation stays as it is, and its rotation goes on', async () => {
  const plan = planOf();
  assert.equal(readyOf(plan).status, 'True');
  const { putOff, againInMs } = await checkSpec(
    throwing(turnsTaken('spec.pods.allow')),
    after(plan, workload()),
  );
  assert.deepEqual([putOff, againInMs], [undefined, 250]);
});

test('what was found of another generation, or was not ready, does not count for this one', async () => {
  const ready = after(planOf(), workload());
  const { metadata } = ready;
  const written = {
    ...ready,
    metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
  };
  const neverReady = after(
    planOf({ putOff: { reason: 'CelTurnsTaken', message: 'busy' } }),
    workload(),
  );
  for (const signer of [written, neverReady]) {
    const { putOff } = await checkSpec(throwing(turnsTaken('spec.pods.allow')), signer);
    assert.equal(putOff?.reason, 'CelTurnsTaken');
  }
});

test('a spec is looked at again when it may compile, or with the rest of the signer where that is sooner', () => {
  const check = { specError: undefined, putOff: undefined };
  assert.equal(nextCheck(5_000, { ...check, againInMs: 700 }, 1_000), 1_700);
  assert.equal(nextCheck(1_500, { ...check, againInMs: 700 }, 1_000), 1_500);
  assert.equal(nextCheck(5_000, { ...check, againInMs: undefined }, 1_000), 5_000);
});
