// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestsSpec } from '#api/signer/cluster-signer.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { decide, type ApprovalPlan } from '#requests/approver/decide.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import { CN, O, OWN_NAME, csrOf, made, specOf, type Wanted } from '../../ca/policy/request.ts';

const YES = {
  name: 'yes',
  when: 'true',
  allow: { commonName: 'true', usages: ['client auth'] },
} as const;
const NEVER = { name: 'never', when: 'false', allow: {} } as const;
const BROKEN = "request.extra['missing'][0] == 'x'";

function planOf(
  requests: RequestsSpec,
  wanted: Wanted = {},
  csr: CertificateSigningRequest = made({ usages: ['client auth'], ...wanted }).csr,
): ApprovalPlan {
  return decide({ csr, policy: compilePolicy(specOf(requests)), reservedPrefixes: ['corp:'] });
}

const asked = (commonName: string): Wanted => ({ subject: [[CN, commonName]] });

test('a rule that allows the whole request approves it and is named in the message', () => {
  const message = 'own-name: allows the whole request';
  const rule = 'own-name';
  assert.deepEqual(planOf(OWN_NAME), { kind: 'approve', reason: 'ApprovedByRule', message, rule });
});

const UNRULED: readonly RequestsSpec[] = [
  { copy: ['commonName'] },
  { copy: ['commonName'], rules: [], deny: [] },
];

test('without allow and deny rules a request is ignored', () => {
  for (const requests of UNRULED) assert.deepEqual(planOf(requests), { kind: 'ignore' });
});

test('without allow and deny rules a request that would fail is reported, not decided', () => {
  for (const requests of UNRULED) {
    const plan = planOf(requests, asked('system:admin'));
    assert.ok(plan.kind === 'unissuable');
    assert.equal(plan.reason, 'ReservedSubject');
  }
});

test('a request that matches no rule waits, and every rule gives its reason', () => {
  const message = 'never: does not apply: when is false; own-name: does not apply: when is false';
  const plan = planOf({ ...OWN_NAME, rules: [NEVER, ...(OWN_NAME.rules ?? [])] }, asked('joe'));
  assert.deepEqual(plan, { kind: 'wait', message, evaluationError: false });
});

test('a request with a field that no rule names is not approved, such as a group', () => {
  const wanted: Wanted = {
    subject: [
      [CN, 'jane'],
      [O, 'admins'],
    ],
  };
  const plan = planOf({ copy: ['commonName', 'organizations'], rules: [YES] }, wanted);
  assert.ok(plan.kind === 'wait');
  assert.match(plan.message, /^yes: .*organizations.*"admins"/);
});

test('a deny rule beats an approval, and the message has both', () => {
  const deny = [{ name: 'no-jane', when: "request.username == 'jane'", message: 'not you' }];
  const message = 'no-jane: not you; yes: allows the whole request';
  const plan = planOf({ copy: ['commonName'], rules: [YES], deny });
  assert.deepEqual(plan, { kind: 'deny', reason: 'DeniedByRule', message, rule: 'no-jane' });
});

test('the deny rule that decided is named before those that do not apply', () => {
  const deny = [
    { name: 'no-joe', when: "request.username == 'joe'", message: 'not joe' },
    { name: 'no-jane', when: "request.username == 'jane'", message: 'not you' },
  ];
  const plan = planOf({ copy: ['commonName'], rules: [YES], deny });
  assert.ok(plan.kind === 'deny');
  assert.equal(
    plan.message,
    'no-jane: not you; no-joe: does not deny: when is false; yes: allows the whole request',
  );
});

test('without allow rules, deny rules deny and other requests wait for a person', () => {
  const deny = [{ name: 'no-joe', when: "csr.subject.commonName == 'joe'", message: 'not joe' }];
  assert.equal(planOf({ copy: ['commonName'], deny }, asked('joe')).kind, 'deny');
  assert.equal(planOf({ copy: ['commonName'], deny }).kind, 'wait');
});

test('built-in rules deny whatever the spec allows, and all violations are reported', () => {
  const plan = planOf(
    { copy: ['commonName'], rules: [YES] },
    { ...asked('system:admin'), usages: ['any', 'ocsp signing'] },
  );
  assert.ok(plan.kind === 'deny');
  assert.equal(plan.reason, 'ReservedSubject');
  const [subject, ...usages] = plan.message.split('; ');
  assert.match(subject ?? '', /"system:admin": names that begin with system:, kubeadm:, corp: are/);
  assert.match(usages.join(), /"any".*"ocsp signing"/);
});

test('prefixes that the installation reserves are denied', () => {
  const plan = planOf({ copy: ['commonName'], rules: [YES] }, asked('corp:boss'));
  assert.ok(plan.kind === 'deny' && plan.reason === 'ReservedSubject');
});

test('a malformed request is denied: its spec is immutable', () => {
  const csr = csrOf('hello', { usages: ['client auth'] });
  const plan = planOf({ copy: ['commonName'], rules: [YES] }, {}, csr);
  assert.ok(plan.kind === 'deny' && plan.reason === 'MalformedRequest', JSON.stringify(plan));
});

test('an allow rule that cannot be evaluated neither approves nor denies', () => {
  const plan = planOf({ copy: ['commonName'], rules: [{ ...YES, when: BROKEN }] });
  assert.ok(plan.kind === 'wait' && plan.evaluationError);
});

test('while a deny rule cannot be evaluated nothing is approved', () => {
  const deny = [{ name: 'unsure', when: BROKEN, message: 'no' }];
  const plan = planOf({ copy: ['commonName'], rules: [YES], deny });
  assert.ok(plan.kind === 'wait' && plan.evaluationError);
  assert.match(plan.message, /^unsure: .*; yes: allows the whole request$/);
});

const finished: [law: string, status: CertificateSigningRequest['status']][] = [
  ...(['Approved', 'Denied', 'Failed'] as const).map(
    (type) =>
      [type, { conditions: [{ type, status: 'True' }] }] as [
        string,
        CertificateSigningRequest['status'],
      ],
  ),
  ['a certificate', { certificate: 'LS0t' }],
];

for (const [law, status = {}] of finished) {
  test(`a request that is decided already is ignored: ${law}`, () => {
    assert.deepEqual(planOf(OWN_NAME, {}, { ...made().csr, status }), { kind: 'ignore' });
  });
}
