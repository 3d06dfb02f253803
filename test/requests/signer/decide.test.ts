// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import { decide, type SigningPlan, type SigningInput } from '#requests/signer/decide.ts';
import { SignerError } from '#base/errors.ts';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import { CN, O, csrOf, made, type Wanted } from '../../ca/policy/request.ts';
import { TRUE, extension, seq } from '../../support/pki/der.ts';
import { NOW, openAuthority } from '../../support/ca/issuing.ts';
import { privateKey, spkiOf } from '../../support/pki/keys.ts';
import { workloadProfile } from '../../support/signers/workload-profile.ts';

const { facts } = await openAuthority();
const APPROVED: Condition = { type: 'Approved', status: 'True' };

/** What is decided on jane's approved request. */
function planOf(wanted: Wanted = {}, more: Partial<SigningInput> = {}): SigningPlan {
  return decide({
    csr: { ...made(wanted).csr, status: { conditions: [APPROVED] } },
    profile: workloadProfile(),
    authority: facts,
    reservedPrefixes: [],
    now: NOW,
    ...more,
  });
}

const issued = (plan: SigningPlan): Extract<SigningPlan, { kind: 'issue' }> => {
  assert.ok(plan.kind === 'issue', JSON.stringify(plan));
  return plan;
};

test('an approved request gets its requested names and usages, for its own key', () => {
  const subject = [
    [O, 'dev'],
    [CN, 'jane'],
  ] as const;
  const plan = issued(planOf({ subject, usages: ['client auth'] }));
  assert.deepEqual(plan.subject, {
    ...EMPTY_SUBJECT,
    commonName: 'jane',
    organizations: ['dev'],
  });
  assert.deepEqual(plan.usages, ['client auth']);
  assert.deepEqual(Buffer.from(plan.publicKey.spki), Buffer.from(spkiOf(privateKey('P-256'))));
});

test('a leaf has only the fields that requests.copy names, even if others are approved', () => {
  const wanted = {
    subject: [
      [CN, 'jane'],
      [O, 'dev'],
    ] as const,
    dnsNames: ['a.example.com'],
  };
  const profile = workloadProfile({ 'requests.copy': ['dnsNames'], 'requests.rules': [] });
  const { subject } = issued(planOf(wanted, { profile }));
  assert.deepEqual(subject, { ...EMPTY_SUBJECT, dnsNames: ['a.example.com'] });
});

const lifetimes: [law: string, asked: Wanted, seconds: number][] = [
  ['who asks for nothing gets maxDuration', {}, 86_400],
  ['who asks for more gets maxDuration', { expirationSeconds: 86_401 }, 86_400],
  ['who asks for less gets less', { expirationSeconds: 3600 }, 3600],
  ['the shortest that the API takes', { expirationSeconds: 600 }, 600],
];

for (const [law, asked, seconds] of lifetimes) {
  test(`expirationSeconds: ${law}`, () => {
    const { validity } = issued(planOf(asked));
    assert.equal((validity.notAfter - validity.notBefore) / 1000, seconds);
    assert.equal(validity.notBefore, NOW - 60_000);
  });
}

test('no leaf outlives its CA', () => {
  const notAfter = NOW + 3_600_000;
  const { validity } = issued(planOf({}, { authority: { ...facts, notAfter } }));
  assert.equal(validity.notAfter, notAfter);
});

const conditions: [law: string, conditions: readonly Condition[]][] = [
  ['nobody approved it', []],
  ['it was denied after all', [APPROVED, { type: 'Denied', status: 'True' }]],
  ['it has failed', [APPROVED, { type: 'Failed', status: 'True' }]],
  ['its approval is no approval', [{ type: 'Approved', status: 'False' }]],
];

for (const [law, found] of conditions) {
  test(`not signed: ${law}`, () => {
    const csr = { ...made().csr, status: { conditions: found } };
    assert.deepEqual(planOf({}, { csr }), { kind: 'ignore' });
  });
}

test('not signed: a request that has a certificate', () => {
  const csr = { ...made().csr, status: { conditions: [APPROVED], certificate: 'LS0t' } };
  assert.deepEqual(planOf({}, { csr }), { kind: 'ignore' });
});

const asCa = extension('2.5.29.19', seq(TRUE), true);

/** An approval by hand lifts none of these. */
const failures: [law: string, wanted: Wanted, reason: string][] = [
  ['a name of Kubernetes itself', { subject: [[CN, 'system:admin']] }, 'ReservedSubject'],
  ['a name that this installation reserves', { subject: [[CN, 'corp:boss']] }, 'ReservedSubject'],
  ['a request to be a CA', { extensions: [asCa] }, 'CertificateAuthority'],
  ['a usage outside the profile', { usages: ['ocsp signing'] }, 'UsageNotAllowed'],
  ['a key type outside the profile', { key: privateKey('RSA-3072') }, 'UnsupportedKeyType'],
  ['nothing that a leaf could hold', { subject: [], dnsNames: ['a.example.com'] }, 'NoIdentity'],
];

for (const [law, wanted, reason] of failures) {
  test(`failed, though approved: ${law}`, () => {
    const plan = planOf(wanted, { reservedPrefixes: ['corp:'] });
    assert.ok(plan.kind === 'fail', JSON.stringify(plan));
    assert.equal(plan.reason, reason);
  });
}

test('failed: a malformed request', () => {
  const csr = { ...csrOf('hello'), status: { conditions: [APPROVED] } };
  const plan = planOf({}, { csr });
  assert.ok(plan.kind === 'fail' && plan.reason === 'MalformedRequest');
  assert.match(plan.message, /^spec\.request: /);
});

test('all violations are reported, the most severe first', () => {
  const plan = planOf({ subject: [[CN, 'system:admin']], usages: ['ocsp signing'] });
  assert.ok(plan.kind === 'fail' && plan.reason === 'ReservedSubject');
  assert.match(plan.message, /"system:admin".*; .*"ocsp signing"/);
});

const noAuthority = new SignerError({
  code: 'AUTHORITY_MISSING',
  disposition: 'authority',
  message: 'its CA Secret does not exist',
});

/** Whatever somebody can fix. */
const waits: [law: string, authority: SigningInput['authority'], code: string][] = [
  ['there is no CA', noAuthority, 'AUTHORITY_MISSING'],
  ['its CA ends too soon', { ...facts, notAfter: NOW + 539_000 }, 'VALIDITY_IMPOSSIBLE'],
  ['its CA is of tomorrow', { ...facts, notBefore: facts.notAfter }, 'VALIDITY_IMPOSSIBLE'],
];

for (const [law, authority, code] of waits) {
  test(`waits, never failed: ${law}`, () => {
    const plan = planOf({}, { authority });
    assert.ok(plan.kind === 'wait', JSON.stringify(plan));
    assert.equal(plan.error.code, code);
    assert.notEqual(plan.error.disposition, 'fail');
  });
}

test('a permanent violation fails a request even without a CA', () => {
  assert.equal(planOf({ usages: ['ocsp signing'] }, { authority: noAuthority }).kind, 'fail');
});
