// SPDX-License-Identifier: Apache-2.0
/** The status says what a successor that was ordered with `prepare-at` waits for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { findCondition } from '#api/request/conditions.ts';
import { PREPARE_AT } from '#api/signer/rotation-annotations.ts';
import { formatTime } from '#api/object/time.ts';
import { NOW } from '../../../support/pki/chain.ts';
import { workload } from '../../../support/signers/workload-profile.ts';
import {
  OURS,
  after,
  authority,
  bundleWith,
  planOf,
  secret,
} from '../../../support/trust/ca-secrets.ts';

const MINUTE = 60;
/** Named as managed CAs are: by the time of their making. */
const A = authority('A 1');
const ofA = { kind: 'found', secret: secret(A, {}, OURS) } as const;
/** What A was made for. */
const fits = workload({
  'authority.managed.duration': '8759h55m',
  'authority.managed.commonName': 'A',
});
const quiet = after(planOf({ signer: fits, secret: ofA }), fits);
const asking: ClusterSigner = {
  ...quiet,
  metadata: { ...fits.metadata, annotations: { [PREPARE_AT]: formatTime(NOW) } },
};
const saidOf = (signer: ClusterSigner, servedFor: number): string => {
  const plan = planOf({ signer, secret: ofA, bundle: bundleWith([A, servedFor]) });
  return findCondition(plan.status.conditions, 'RotationDue')?.message ?? '';
};

test('a requested successor waits, with a condition, until the CA has propagated', () => {
  const plan = planOf({ signer: asking, secret: ofA, bundle: bundleWith([A, 4 * MINUTE]) });
  assert.equal(plan.step, undefined);
  assert.match(
    saidOf(asking, 4 * MINUTE),
    /a successor was requested for \S+Z and waits: the active CA has not been published for the propagation time yet/,
  );
});

test('without a requested or waiting successor the condition does not mention waiting', () => {
  assert.doesNotMatch(saidOf(quiet, 4 * MINUTE), /waits/);
  assert.doesNotMatch(saidOf(asking, 20 * MINUTE), /waits/);
});
