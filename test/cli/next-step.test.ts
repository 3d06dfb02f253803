// SPDX-License-Identifier: Apache-2.0
/** `check` proposes only commands that work for a user who pastes them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestsSpec } from '#api/signer/cluster-signer.ts';
import { nextStep } from '#cli/commands/check/next-step.ts';
import { specOf } from '../ca/policy/request.ts';
import { installed, kubernetes, RELEASE, signersOf } from '../diagnose/check/well.ts';
import { state } from '../operations/signer-states.ts';

const RULE = { name: 'own-name', when: 'true', allow: { commonName: 'self == csr.username' } };

function proposed(requests: RequestsSpec): string {
  const signer = { ...state().signer, spec: specOf(requests) };
  const signers = { value: signersOf({ ...state(), signer }) };
  const facts = { kubernetes, installed: { ...installed, signers }, release: RELEASE };
  return nextStep(facts, { result: 'ok', checks: [] }, 'example.com/own');
}

test('a first certificate is proposed for a signer with rules', () => {
  assert.match(
    proposed({ rules: [RULE] }),
    /^ {2}countersign request --signer example\.com\/people /m,
  );
});

test('no request is proposed where a person has to approve it first', () => {
  for (const requests of [{}, { rules: [] }, { copy: ['commonName'] }] as const)
    assert.doesNotMatch(proposed(requests), /countersign request/);
});
