// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSpec, nextCheck } from '#trust/authority/check-spec.ts';
import { SignerError } from '#base/errors.ts';
import { EvaluationTimeout, budgetSpent, throttled } from '#component/signers/evaluation-errors.ts';
import { after, planOf, readyOf } from '../../support/trust/ca-secrets.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const topSpender = { signer: 'web', where: 'spec.pods.allow', ms: 12 };
const spent = budgetSpent('team-a', { waitMs: 700, topSpender });

function throwing(error: Error): () => never {
  return () => {
    throw error;
  };
}

test('a spec that compiles has no fault', async () => {
  assert.deepEqual(await checkSpec(() => undefined, teamSigner()), {
    specError: undefined,
    deferred: undefined,
    againInMs: undefined,
  });
});

test('a spec that does not compile is invalid until it changes', async () => {
  const error = new SignerError({ code: 'CEL_INVALID', disposition: 'wait', message: 'no' });
  const { specError, againInMs } = await checkSpec(throwing(error), teamSigner());
  assert.deepEqual([specError, againInMs], [error, undefined]);
});

test('a spec that takes too long to compile is invalid and is retried later', async () => {
  const overrun = new EvaluationTimeout('compile', 'spec.pods.allow');
  const { specError, againInMs } = await checkSpec(throwing(overrun), teamSigner());
  assert.deepEqual([specError, againInMs], [overrun, 300_000]);
});

test('a Signer whose namespace has spent its budget says so, with the field', async () => {
  const { deferred, specError, againInMs } = await checkSpec(throwing(spent), teamSigner());
  assert.deepEqual([specError, againInMs], [undefined, 700]);
  const ready = readyOf(planOf({ deferred }));
  assert.deepEqual([ready.status, ready.reason], ['False', 'CelBudgetSpent']);
  assert.match(ready.message ?? '', /spec\.pods\.allow of Signer team-a\/web/);
});

test('a signer that compiled in this generation is not checked again, and rotates', async () => {
  const plan = planOf();
  assert.equal(readyOf(plan).status, 'True');
  const { deferred, againInMs } = await checkSpec(
    throwing(throttled('spec.pods.allow')),
    after(plan, workload()),
  );
  assert.deepEqual([deferred, againInMs], [undefined, 250]);
});

test('a result of another generation or of an unready check does not count', async () => {
  const ready = after(planOf(), workload());
  const { metadata } = ready;
  const written = {
    ...ready,
    metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
  };
  const neverReady = after(
    planOf({ deferred: { reason: 'CelThrottled', message: 'busy' } }),
    workload(),
  );
  for (const signer of [written, neverReady]) {
    const { deferred } = await checkSpec(throwing(throttled('spec.pods.allow')), signer);
    assert.equal(deferred?.reason, 'CelThrottled');
  }
});

test('a spec is checked again when it may compile, or with its signer if sooner', () => {
  const check = { specError: undefined, deferred: undefined };
  assert.equal(nextCheck(5_000, { ...check, againInMs: 700 }, 1_000), 1_700);
  assert.equal(nextCheck(1_500, { ...check, againInMs: 700 }, 1_000), 1_500);
  assert.equal(nextCheck(5_000, { ...check, againInMs: undefined }, 1_000), 5_000);
});
