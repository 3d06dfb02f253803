// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decide, type CertificateRequestPlan } from '#requests/certificate-request/decide.ts';
import type { AuthorityFacts } from '#ca/custody/contract.ts';
import { SignerError } from '#base/errors.ts';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import { compileIssuerPolicy } from '#ca/policy/compile-policy.ts';
import { CN, O } from '../../ca/policy/request.ts';
import {
  APPROVED,
  DENIED,
  certificateRequest,
  servicesOfTeams,
  type CertificateRequestWanted,
} from '../../support/requests/certificate-request.ts';
import { TRUE, extension, seq } from '../../support/pki/der.ts';
import { NOW, openAuthority } from '../../support/ca/issuing.ts';
import { privateKey } from '../../support/pki/keys.ts';

const { facts } = await openAuthority();

interface More {
  readonly changes?: Readonly<Record<string, unknown>>;
  readonly authority?: AuthorityFacts | SignerError;
}

function planOf(wanted: CertificateRequestWanted = {}, more: More = {}): CertificateRequestPlan {
  const { spec } = servicesOfTeams(more.changes);
  return decide({
    request: certificateRequest(wanted),
    profile: compileProfile(spec),
    policy: compileIssuerPolicy(spec),
    authority: more.authority ?? facts,
    reservedPrefixes: ['corp:'],
    now: NOW,
  });
}

const issued = (
  plan: CertificateRequestPlan,
): Extract<CertificateRequestPlan, { kind: 'issue' }> => {
  assert.ok(plan.kind === 'issue', JSON.stringify(plan));
  return plan;
};

test('a request that an approver and a rule allow is issued as requested', () => {
  const { subject, usages } = issued(planOf());
  assert.deepEqual(subject, { ...EMPTY_SUBJECT, dnsNames: ['web.team-a.svc'] });
  assert.deepEqual(usages, ['digital signature', 'server auth']);
});

test('an approved request without a matching rule waits, and the message says why', () => {
  const plan = planOf({ subject: [[CN, 'web']] });
  assert.ok(plan.kind === 'undecided' && !plan.evaluationError);
  assert.match(plan.message, /services-of-a-team: allow has no commonName expression/);
});

const unruled: [law: string, wanted: CertificateRequestWanted][] = [
  ['a name of another namespace', { dnsNames: ['web.team-b.svc'] }],
  ['a namespace that is no team', { namespace: 'kube-public', dnsNames: ['a.kube-public.svc'] }],
  ['one name too many', { dnsNames: ['web.team-a.svc', 'example.com'] }],
  ['a group', { subject: [[O, 'dev']] }],
  ['a URI', { uris: ['spiffe://cluster.local/ns/team-a/sa/web'] }],
  ['a usage that no rule allows', { usages: ['client auth'] }],
];

for (const [law, wanted] of unruled) {
  test(`not issued, and not failed where a rule could allow it: ${law}`, () => {
    const usages = ['digital signature', 'key encipherment', 'client auth', 'server auth'];
    const changes = { 'profile.usages': usages };
    assert.equal(planOf(wanted, { changes }).kind === 'issue', false);
  });
}

const ALL_OF_TLS = ['digital signature', 'client auth', 'server auth'];
/** A rule and a profile that allow these usages. */
const allowing = (usages: readonly string[]): Readonly<Record<string, unknown>> => ({
  requests: undefined,
  'profile.usages': usages,
  'certificateRequests.rules': [{ name: 'all', when: 'true', allow: { dnsNames: 'true', usages } }],
});

test('cert-manager’s default usages are issued for a key that cannot encipher keys', () => {
  const plan = planOf({ usages: undefined }, { changes: allowing(ALL_OF_TLS) });
  assert.deepEqual(issued(plan).usages, ['digital signature', 'key encipherment']);
  const changes = { ...allowing(ALL_OF_TLS), 'profile.keyTypes': ['RSA3072'] };
  const refused = planOf({ usages: undefined, key: privateKey('RSA-3072') }, { changes });
  assert.ok(refused.kind === 'fail', JSON.stringify(refused));
  assert.match(refused.message, /"key encipherment".*spec\.profile\.usages/);
});

// RFC 5280 §4.2.1.12: without the extension a certificate is valid for every purpose.
test('usages without a purpose get no certificate beyond the profile', () => {
  const changes = allowing(['digital signature', 'server auth']);
  const plan = planOf({ usages: ['digital signature'] }, { changes });
  assert.ok(plan.kind === 'fail', JSON.stringify(plan));
  assert.match(
    plan.message,
    /valid for every purpose, also client auth: request server auth as well/,
  );
});

test('a rule without a purpose of TLS approves no usages without a purpose', () => {
  const rule = allowing(['digital signature', 'server auth']);
  const changes = { ...rule, 'profile.usages': ALL_OF_TLS };
  const plan = planOf({ usages: ['digital signature'] }, { changes });
  assert.ok(plan.kind === 'undecided', JSON.stringify(plan));
  assert.match(plan.message, /also client auth: request server auth as well/);
});

test('a request that a rule allows is not issued without an approval', () => {
  assert.deepEqual(planOf({ conditions: [] }), { kind: 'ignore' });
  const notYet = { ...APPROVED, status: 'Unknown' } as const;
  assert.deepEqual(planOf({ conditions: [notYet] }), { kind: 'ignore' });
});

test('a request that an approver denied is shown as denied, whatever the rules allow', () => {
  assert.deepEqual(planOf({ conditions: [DENIED] }), { kind: 'deny' });
  assert.deepEqual(planOf({ conditions: [APPROVED, DENIED] }), { kind: 'deny' });
});

test('a finished request is ignored', () => {
  const failed = { type: 'Ready', status: 'False', reason: 'Failed' } as const;
  assert.deepEqual(planOf({ conditions: [APPROVED, failed] }), { kind: 'ignore' });
});

const asCa = extension('2.5.29.19', seq(TRUE), true);

/** An approval lifts none of these, and no rule does. */
const failures: [law: string, wanted: CertificateRequestWanted, reason: string][] = [
  ['spec.isCA', { isCA: true }, 'CertificateAuthority'],
  ['a CA in its PKCS#10 request', { extensions: [asCa] }, 'CertificateAuthority'],
  ['a name of Kubernetes itself', { subject: [[CN, 'system:admin']] }, 'ReservedSubject'],
  ['a name that this installation reserves', { subject: [[CN, 'corp:boss']] }, 'ReservedSubject'],
  ['cert sign', { usages: ['cert sign'] }, 'ForbiddenUsage'],
  ['a usage outside the profile', { usages: ['ocsp signing'] }, 'UsageNotAllowed'],
  ['a key type outside the profile', { key: privateKey('RSA-3072') }, 'UnsupportedKeyType'],
  ['nobody', { dnsNames: [] }, 'NoIdentity'],
  [
    'a country and a state, which no leaf gets',
    {
      subject: [
        ['2.5.4.6', 'DE'],
        ['2.5.4.8', 'Bavaria'],
      ],
    },
    'UnsupportedSubject',
  ],
  [
    'a domain component',
    { subject: [['0.9.2342.19200300.100.1.25', 'org']] },
    'UnsupportedSubject',
  ],
  ['a deny rule', { dnsNames: ['forbidden.team-a.svc'] }, 'DeniedByRule'],
  ['a duration below ten minutes', { duration: '9m59s' }, 'InvalidDuration'],
  ['a duration of nothing', { duration: '0s' }, 'InvalidDuration'],
  ['a duration that lies behind', { duration: '-24h' }, 'InvalidDuration'],
  ['a duration that is none', { duration: 'soon' }, 'InvalidDuration'],
];

for (const [law, wanted, reason] of failures) {
  test(`failed, though approved: ${law}`, () => {
    const plan = planOf(wanted);
    assert.ok(plan.kind === 'fail', JSON.stringify(plan));
    assert.equal(plan.reason, reason);
  });
}

test('the message names the fields of the Certificate that have the subject', () => {
  const plan = planOf({
    subject: [
      ['2.5.4.6', 'DE'],
      ['2.5.4.8', 'Bavaria'],
      ['2.5.4.7', 'Munich'],
      ['0.9.2342.19200300.100.1.1', 'jane'],
    ],
  });
  assert.ok(plan.kind === 'fail');
  assert.match(
    plan.message,
    /^the subject contains C \(2\.5\.4\.6\), ST \(2\.5\.4\.8\), L \(2\.5\.4\.7\), UID \(0\.9\.2342\.19200300\.100\.1\.1\), which no leaf gets; remove spec\.subject\.countries, spec\.subject\.provinces, spec\.subject\.localities, UID \(0\.9\.2342\.19200300\.100\.1\.1\) in spec\.literalSubject from the Certificate$/,
  );
});

test('the message of a deny rule is the message of the request', () => {
  const plan = planOf({ dnsNames: ['forbidden.team-a.svc'] });
  assert.ok(plan.kind === 'fail');
  assert.match(plan.message, /no-forbidden: nobody is called forbidden/);
});

const lifetimes: [law: string, duration: string | undefined, seconds: number][] = [
  ['who asks for nothing gets maxDuration', undefined, 86_400],
  ['who asks for more gets maxDuration', '2160h0m0s', 86_400],
  ['who asks for less gets less', '1h0m0s', 3_600],
  ['the shortest that is of use', '10m', 600],
];

for (const [law, duration, seconds] of lifetimes) {
  test(`duration: ${law}`, () => {
    const { validity } = issued(planOf(duration === undefined ? {} : { duration }));
    assert.equal((validity.notAfter - validity.notBefore) / 1000, seconds);
  });
}

test('a rule sees the requested lifetime in seconds', () => {
  const changes = {
    'certificateRequests.rules.0.when': 'request.expirationSeconds == 7200',
  };
  assert.equal(planOf({ duration: '2h' }, { changes }).kind, 'issue');
  assert.equal(planOf({ duration: '3h' }, { changes }).kind, 'undecided');
});

test('rules see the requester that cert-manager’s webhook recorded', () => {
  const changes = {
    'certificateRequests.rules.0.when':
      "request.username == 'jane' && 'dev' in request.groups && request.namespace == 'team-a'",
  };
  assert.equal(planOf({ username: 'jane', groups: ['dev'] }, { changes }).kind, 'issue');
  assert.equal(planOf({ username: 'joe', groups: ['dev'] }, { changes }).kind, 'undecided');
});

test('a rule that cannot be evaluated neither issues nor fails the request', () => {
  const changes = { 'certificateRequests.rules.0.when': "request.extra['team'].size() > 0" };
  const plan = planOf({}, { changes });
  assert.ok(plan.kind === 'undecided' && plan.evaluationError);
});

test('without a CA a request waits, but a permanent violation fails it', () => {
  const message = 'its CA Secret does not exist';
  const authority = new SignerError({
    code: 'AUTHORITY_MISSING',
    disposition: 'authority',
    message,
  });
  assert.deepEqual(planOf({}, { authority }), { kind: 'wait', error: authority });
  assert.equal(planOf({ isCA: true }, { authority }).kind, 'fail');
});

test('a request waits for another CA if the present one ends too soon', () => {
  const plan = planOf({}, { authority: { ...facts, notAfter: NOW + 539_000 } });
  assert.ok(plan.kind === 'wait' && plan.error.code === 'VALIDITY_IMPOSSIBLE');
});
