// SPDX-License-Identifier: Apache-2.0
/** Which approved requests for the CA of another cluster are signed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IntermediateRule } from '#api/signer/cluster-signer.ts';
import { SignerError } from '#base/errors.ts';
import { compileIntermediates } from '#ca/policy/intermediates.ts';
import type { SigningPlan } from '#requests/signer/decide.ts';
import {
  decideIntermediate,
  type IntermediateSigningInput,
} from '#requests/signer/decide-intermediate.ts';
import { openHub } from '../../support/ca/hub.ts';
import { NOW } from '../../support/ca/issuing.ts';
import { hubSigner, memberCsr, type MemberWanted } from '../../support/requests/intermediate.ts';

const { authority } = await openHub();
const APPROVED = { conditions: [{ type: 'Approved', status: 'True' }] } as const;

function planOf(
  wanted: MemberWanted = {},
  rule: Partial<IntermediateRule> = {},
  more: Partial<IntermediateSigningInput> = {},
): SigningPlan {
  return decideIntermediate({
    csr: { ...memberCsr(wanted), status: APPROVED },
    policy: compileIntermediates(hubSigner([rule]).spec),
    authority: authority.facts,
    reservedPrefixes: [],
    now: NOW,
    ...more,
  });
}

test('an approved request gets the names of the rule', () => {
  const plan = planOf();
  assert.ok(plan.kind === 'issue', JSON.stringify(plan));
  assert.deepEqual(plan.intermediate, {
    cluster: 'prod',
    commonName: 'Prod CA 1795759200',
    trustDomain: 'prod.fleet.example.com',
    isUriConstrained: true,
    dnsConstraints: [],
  });
  assert.deepEqual(plan.usages, ['cert sign', 'crl sign']);
  assert.equal(plan.omitted, undefined);
});

test('a request that nothing approved is ignored', () => {
  assert.deepEqual(planOf({}, {}, { csr: memberCsr() }), { kind: 'ignore' });
});

test('an approval by a person does not replace a rule', () => {
  const plan = planOf({ cluster: 'other' });
  assert.ok(plan.kind === 'fail', JSON.stringify(plan));
  assert.equal(plan.reason, 'NotAllowedByRule');
});

test('an approval lifts no hard limit', () => {
  const plan = planOf({ pathLen: 1 });
  assert.ok(plan.kind === 'fail');
  assert.equal(plan.reason, 'NotAnIntermediate');
});

test('a request waits while its rule cannot be evaluated', () => {
  const plan = planOf({}, { when: "request.extra['missing'][0] == 'x'" });
  assert.ok(plan.kind === 'wait');
  assert.equal(plan.error.code, 'CEL_EVALUATION');
});

test('a request waits while no CA can sign', () => {
  const error = new SignerError({
    code: 'AUTHORITY_MISSING',
    disposition: 'authority',
    message: 'none',
  });
  assert.deepEqual(planOf({}, {}, { authority: error }), { kind: 'wait', error });
});

test('a longer life than allowed is shortened, and the plan says so', () => {
  const plan = planOf({ expirationSeconds: 365 * 86_400 });
  assert.ok(plan.kind === 'issue');
  assert.equal((plan.validity.notAfter - plan.validity.notBefore) / 1000, 30 * 86_400);
  assert.match(plan.omitted ?? '', /2592000|720h/);
});
