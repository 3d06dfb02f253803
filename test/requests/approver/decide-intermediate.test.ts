// SPDX-License-Identifier: Apache-2.0
/** Which requests for the CA of another cluster are approved. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IntermediateRule } from '#api/signer/cluster-signer.ts';
import { compileIntermediates } from '#ca/policy/intermediates.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import { resource } from '#kube/resource/resource.ts';
import { createActor } from '#requests/approver/act.ts';
import {
  decideIntermediate,
  type IntermediatePlan,
} from '#requests/approver/decide-intermediate.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { hubSigner, memberCsr, type MemberWanted } from '../../support/requests/intermediate.ts';

function planOf(wanted: MemberWanted = {}, rule: Partial<IntermediateRule> = {}): IntermediatePlan {
  const policy = compileIntermediates(hubSigner([rule]).spec);
  return decideIntermediate({ csr: memberCsr(wanted), policy, reservedPrefixes: [] });
}

test('a rule approves the CA of a member, and the message names its trust domain', () => {
  assert.deepEqual(planOf(), {
    kind: 'approve',
    reason: 'ApprovedByRule',
    message: 'own-cluster: allows the CA of cluster prod, trust domain prod.fleet.example.com',
    rule: 'own-cluster',
  });
});

test('a request with the name of another cluster is denied', () => {
  const plan = planOf({ cluster: 'other' });
  assert.ok(plan.kind === 'deny', JSON.stringify(plan));
  assert.equal(plan.reason, 'NotAllowedByRule');
});

test('a request that breaks a hard limit is denied', () => {
  const plan = planOf({ pathLen: 1 });
  assert.ok(plan.kind === 'deny');
  assert.equal(plan.reason, 'NotAnIntermediate');
});

test('a rule that cannot be evaluated decides nothing', () => {
  const plan = planOf({}, { when: "request.extra['missing'][0] == 'x'" });
  assert.ok(plan.kind === 'error');
  assert.equal(plan.error.disposition, 'wait');
});

test('a decided request is left alone', () => {
  const policy = compileIntermediates(hubSigner().spec);
  for (const type of ['Approved', 'Denied', 'Failed']) {
    const status = { conditions: [{ type, status: 'True' }] } as const;
    const csr = { ...memberCsr(), status };
    assert.deepEqual(decideIntermediate({ csr, policy, reservedPrefixes: [] }), { kind: 'ignore' });
  }
});

const REQUESTS = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'certificatesigningrequests',
});

function act(kindHasIntermediates: boolean) {
  const component = recordedComponent({ name: 'approver', clock: () => Date.UTC(2026, 10, 21, 9) });
  component.client.answer(({ body }) => body);
  const handle = createActor({
    component,
    resource: REQUESTS,
    policyOf: ({ spec }: ReturnType<typeof hubSigner>) => compilePolicy(spec),
    intermediatesOf: kindHasIntermediates ? ({ spec }) => compileIntermediates(spec) : undefined,
  });
  return { component, handle };
}

test('a denial is one PUT to /approval', async () => {
  const { component, handle } = act(true);
  const outcome = await handle(memberCsr({ cluster: 'other' }), hubSigner());
  assert.deepEqual([outcome.outcome, outcome.reason], ['denied', 'NotAllowedByRule']);
  assert.deepEqual(
    component.client.requests.map(({ method, path }) => [method, path.split('/').at(-1)]),
    [['PUT', 'approval']],
  );
});

test('an approver of a kind without intermediates approves none', async () => {
  const { component, handle } = act(false);
  assert.equal((await handle(memberCsr(), hubSigner())).outcome, 'ignored');
  assert.deepEqual(component.client.requests, []);
});
