// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { sign } from 'node:crypto';
import { test } from 'node:test';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { decide, type PodDecisionInput } from '#requests/pcr-issuer/decide.ts';
import type { PodPlan } from '#requests/pcr-issuer/plan.ts';
import { SignerError } from '#base/errors.ts';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import { printable, rdn, seq } from '../../support/pki/der.ts';
import { NOW, openAuthority } from '../../support/ca/issuing.ts';
import { privateKey, spkiOf } from '../../support/pki/keys.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import {
  RSA_SHA256,
  extensionRequest,
  requestDer,
  type RequestDer,
} from '../../support/pki/request-der.ts';
import { san } from '../../support/pki/chain.ts';
import { workloadProfile } from '../../support/signers/workload-profile.ts';

const { facts } = await openAuthority();

type Spec = Partial<PodCertificateRequest['spec']>;

/** What is decided on the request of team-a/web-0 with these fields. */
function planOf(spec: Spec = {}, more: Partial<PodDecisionInput> = {}): PodPlan {
  return decide({
    request: podRequest(spec),
    profile: workloadProfile(),
    authority: facts,
    reservedPrefixes: [],
    now: NOW,
    random: (size) => new Uint8Array(size),
    ...more,
  });
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const stub = (parts: RequestDer): Spec => ({ stubPKCS10Request: base64(requestDer(parts)) });

const issued = (plan: PodPlan): Extract<PodPlan, { kind: 'issue' }> => {
  assert.ok(plan.kind === 'issue', JSON.stringify(plan));
  return plan;
};

test('an allowed pod gets the names of its ClusterSigner, for the requested lifetime', () => {
  const { subject, publicKey, validity, beginRefreshAt } = issued(planOf());
  assert.deepEqual(subject, {
    ...EMPTY_SUBJECT,
    uris: ['spiffe://cluster.local/ns/team-a/sa/web'],
  });
  assert.deepEqual(Buffer.from(publicKey.spki), Buffer.from(spkiOf(privateKey('P-256'))));
  assert.equal(validity.notAfter - validity.notBefore, 3_600_000);
  assert.equal(validity.notBefore, NOW - 60_000);
  assert.equal(beginRefreshAt, validity.notBefore + 1_800_000);
});

test('a key that can have none of the usages gets no leaf', () => {
  const usages = ['key encipherment', 'data encipherment'] as const;
  const profile = workloadProfile();
  const plan = planOf({}, { profile: { ...profile, usages } });
  assert.ok(plan.kind === 'deny', JSON.stringify(plan));
  assert.equal(plan.reason, 'UnsupportedKeyType');
  assert.match(plan.message, /only key encipherment, data encipherment, which no key of ECDSA/);
  const both = [...usages, 'digital signature'] as const;
  issued(planOf({}, { profile: { ...profile, usages: both } }));
});

test('maxDuration limits the requested lifetime, and an omitted one counts as 24 hours', () => {
  const lifetime = (spec: Spec, maxDuration: string): number => {
    const profile = workloadProfile({ 'profile.maxDuration': maxDuration });
    const { validity } = issued(planOf(spec, { profile }));
    return (validity.notAfter - validity.notBefore) / 1000;
  };
  assert.equal(lifetime({ maxExpirationSeconds: 7200 }, '1h'), 3600);
  assert.equal(lifetime({ maxExpirationSeconds: 7200 }, '24h'), 7200);
  const { maxExpirationSeconds: _, ...without } = podRequest().spec;
  const request = { ...podRequest(), spec: without };
  const { validity } = issued(
    planOf({}, { request, profile: workloadProfile({ 'profile.maxDuration': '48h' }) }),
  );
  assert.equal(validity.notAfter - validity.notBefore, 86_400_000);
});

test('the same snapshot gives the same plan', () => {
  assert.deepEqual(planOf(), planOf());
});

for (const type of ['Issued', 'Denied', 'Failed']) {
  test(`a request that is ${type} is ignored`, () => {
    const request = podRequest({}, { conditions: [{ type, status: 'True' }] });
    assert.deepEqual(planOf({}, { request }), { kind: 'ignore' });
  });
}

test('a request for a ClusterSigner without spec.pods is ignored', () => {
  const profile = workloadProfile({ pods: undefined });
  assert.deepEqual(planOf({}, { profile }), { kind: 'ignore' });
});

test('a request without a key waits and is not refused', () => {
  const { stubPKCS10Request: _, ...without } = podRequest().spec;
  const request = { ...podRequest(), spec: without };
  for (const plan of [planOf({ stubPKCS10Request: '' }), planOf({}, { request })]) {
    assert.ok(plan.kind === 'wait');
    assert.deepEqual([plan.error.code, plan.error.disposition], ['REQUEST_MALFORMED', 'wait']);
  }
});

/** Denied indefinitely: only what the request itself is or asks for. */
const denials: [
  law: string,
  spec: Spec,
  more: Partial<PodDecisionInput>,
  reason: string,
  text: RegExp,
][] = [
  [
    'a namespace that spec.pods.allow leaves out',
    {},
    { request: { ...podRequest(), metadata: { ...podRequest().metadata, namespace: 'other' } } },
    'NotAllowed',
    /^spec\.pods\.allow of signer example\.com\/workload does not allow pod other\/web-0 \(ServiceAccount web\)$/,
  ],
  [
    'an annotation that the signer does not know',
    { unverifiedUserAnnotations: { 'example.com/admin': 'yes' } },
    {},
    'InvalidUnverifiedUserAnnotations',
    /"example\.com\/admin" is not an annotation of this signer; known: example\.com\/role$/,
  ],
  [
    'an annotation whose value matches in part only',
    { unverifiedUserAnnotations: { 'example.com/role': 'web;admin' } },
    {},
    'InvalidUnverifiedUserAnnotations',
    /"example\.com\/role" may not have the value "web;admin"/,
  ],
  [
    'an annotation longer than its pattern',
    { unverifiedUserAnnotations: { 'example.com/role': 'a'.repeat(33) } },
    {},
    'InvalidUnverifiedUserAnnotations',
    /may not have the value/,
  ],
  [
    'a key type that the profile leaves out, naming those that work',
    stub({ key: privateKey('RSA-2048'), algorithm: RSA_SHA256 }),
    {},
    'UnsupportedKeyType',
    /^RSA2048 is not allowed; key types that work: ECDSAP256, ED25519$/,
  ],
  [
    'a curve that nobody takes',
    { stubPKCS10Request: base64(requestDer({ key: privateKey('P-224') })) },
    {},
    'UnsupportedKeyType',
    /is not P-256, P-384 or P-521; key types that work/,
  ],
  [
    'a key that can be broken',
    stub({ key: privateKey('RSA-1024'), algorithm: RSA_SHA256 }),
    {},
    'UnsupportedKeyType',
    /RSA with 1024 bits is not allowed/,
  ],
  [
    'a stub with a subject',
    stub({ subject: seq(rdn('2.5.4.3', printable('system:masters'))) }),
    {},
    'NonEmptyStubRequest',
    /a pod’s names come from the signer alone/,
  ],
  [
    'a stub with alternative names',
    stub({ attributes: [extensionRequest(san([2, 'admin.example']))] }),
    {},
    'NonEmptyStubRequest',
    /has a subject or attributes/,
  ],
];

for (const [law, spec, more, reason, text] of denials) {
  test(`denied: ${law}`, () => {
    const plan = planOf(spec, more);
    assert.ok(plan.kind === 'deny', JSON.stringify(plan));
    assert.equal(plan.reason, reason);
    assert.match(plan.message, text);
  });
}

const other = privateKey('P-256', 'another');

/** Failed indefinitely: bytes that are not what they claim to be. */
const failures: [law: string, spec: Spec, text: RegExp][] = [
  ['a stub that is no DER', { stubPKCS10Request: base64(Buffer.from('hello')) }, /not valid DER/],
  [
    'a stub signed by another key',
    stub({ spki: spkiOf(privateKey('P-256')), key: other }),
    /signature/,
  ],
  [
    'a stub longer than the API takes',
    { stubPKCS10Request: base64(new Uint8Array(10 * 1024 + 1)) },
    /has 10241 bytes, more than 10240/,
  ],
  [
    'a proof of possession by another key',
    {
      stubPKCS10Request: '',
      pkixPublicKey: base64(spkiOf(privateKey('P-256'))),
      proofOfPossession: base64(sign('sha256', Buffer.from(podRequest().spec.podUID), other)),
    },
    /proof of possession is not a signature of this key/,
  ],
  [
    'no proof of possession',
    { stubPKCS10Request: '', pkixPublicKey: base64(spkiOf(privateKey('P-256'))) },
    /proof of possession/,
  ],
  ['a public key that is none', { stubPKCS10Request: '', pkixPublicKey: 'AAAA' }, /DER/],
];

for (const [law, spec, text] of failures) {
  test(`failed: ${law}`, () => {
    const plan = planOf(spec);
    assert.ok(plan.kind === 'fail', JSON.stringify(plan));
    assert.equal(plan.reason, 'MalformedRequest');
    assert.match(plan.message, text);
  });
}

const noAuthority = new SignerError({
  code: 'AUTHORITY_MISSING',
  disposition: 'authority',
  message: 'its CA Secret does not exist',
});

/** Whatever somebody can fix: the ClusterSigner, its CA, the clock. */
const waits: [law: string, more: Partial<PodDecisionInput>, code: string][] = [
  ['no CA', { authority: noAuthority }, 'AUTHORITY_MISSING'],
  [
    'a CA that leaves less than an hour',
    { authority: { ...facts, notAfter: NOW + 3_539_000 } },
    'VALIDITY_IMPOSSIBLE',
  ],
  [
    'spec.pods.allow fails',
    { profile: workloadProfile({ 'pods.allow': "pod.annotations['example.com/role'] == 'x'" }) },
    'CEL_EVALUATION',
  ],
  [
    'an expression for a name fails',
    { profile: workloadProfile({ 'pods.uris': ["pod.annotations['example.com/role']"] }) },
    'CEL_EVALUATION',
  ],
  [
    'an expression makes a name that is none',
    { profile: workloadProfile({ 'pods.uris': ["'spiffe://cluster.local/../x'"] }) },
    'NAME_INVALID',
  ],
  [
    'an expression makes a reserved name',
    { profile: workloadProfile({ 'pods.commonName': "'system:masters'" }) },
    'NAME_RESERVED',
  ],
  [
    'expressions that name nobody',
    { profile: workloadProfile({ 'pods.uris': ["''"] }) },
    'NAME_INVALID',
  ],
];

for (const [law, more, code] of waits) {
  test(`waits, never denied or failed: ${law}`, () => {
    const plan = planOf({}, more);
    assert.ok(plan.kind === 'wait', JSON.stringify(plan));
    assert.equal(plan.error.code, code);
    assert.notEqual(plan.error.disposition, 'fail');
  });
}

test('a pod that is not allowed is denied even without a CA', () => {
  const profile = workloadProfile({ 'pods.allow': 'false' });
  assert.equal(planOf({}, { profile, authority: noAuthority }).kind, 'deny');
});
