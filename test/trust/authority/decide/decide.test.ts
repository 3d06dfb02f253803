// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignerError, attempt } from '#base/errors.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import { NOW, link } from '../../../support/pki/chain.ts';
import { workload } from '../../../support/signers/workload-profile.ts';
import {
  A,
  B,
  BELOW,
  OWN,
  after,
  fingerprintOf,
  keyOf,
  planOf,
  readyOf,
  secret,
} from '../../../support/trust/ca-secrets.ts';
import type { SignerSnapshot } from '#trust/authority/decide/snapshot.ts';

const found = (...parts: Parameters<typeof secret>): Partial<SignerSnapshot> => ({
  secret: { kind: 'found', secret: secret(...parts) },
});

function fault(expression: string): SignerError {
  const { spec } = workload({ 'requests.rules.0.when': expression });
  const error = attempt(() => compilePolicy(spec));
  assert.ok(error instanceof SignerError);
  return error;
}

const noCa = link('no-ca');
const missing: SignerSnapshot['secret'] = { kind: 'missing' };
const NOBODY = {};
const OTHER = { 'countersign.dev/signer-name': 'example.com/other' };

/** docs/reference/cluster-signer.md, Reasons of Ready. */
const reasons: [law: string, snapshot: Partial<SignerSnapshot>, reason: string, message: RegExp][] =
  [
    [
      'the user’s own Secret is missing, and how to make it is said',
      { signer: workload(OWN), secret: missing },
      'SecretNotFound',
      /^Secret countersign-keys\/corp-ca does not exist; .*kubernetes\.io\/tls.*countersign\.dev\/signer-name: example\.com\/workload$/,
    ],
    [
      'the Secret’s owner has not consented',
      found(A, {}, NOBODY),
      'SecretNotGranted',
      /countersign-keys\/workload-ca .*its owner/,
    ],
    [
      'the consent is for another signer',
      found(A, {}, OTHER),
      'SecretNotGranted',
      /, but to "[^"]+"; .*signer-name: example\.com\/workload$/,
    ],
    [
      'there is no key',
      found(A, { 'tls.key': undefined }),
      'AuthorityUnavailable',
      /tls\.key is empty/,
    ],
    [
      'the key is of another certificate',
      found(A, { 'tls.key': keyOf(B) }),
      'AuthorityUnavailable',
      /tls\.key is not the private key/,
    ],
    ['the certificate is of no CA', found(noCa), 'AuthorityUnavailable', /lacks CA:TRUE/],
    [
      'there is no certificate',
      found(A, { 'tls.crt': undefined }),
      'AuthorityUnavailable',
      /tls\.crt/,
    ],
    [
      'the CA has expired',
      { now: A.certificate.notAfter },
      'AuthorityUnavailable',
      /expired at 2027-01-01T00:00:00/,
    ],
    [
      'the root of an intermediate is missing',
      found(BELOW),
      'NoTrustAnchor',
      /there is no ca\.crt/,
    ],
    [
      'an expression does not compile: its field, line and column are named',
      { specError: fault('request.username ==\n  nobody') },
      'InvalidSpec',
      /spec\.requests\.rules\[0\]\.when.*line 2, column 3/s,
    ],
    [
      'an elder has the signer name',
      { elder: 'first' },
      'SignerNameTaken',
      /"first" is older and serves example\.com\/workload/,
    ],
    [
      'the Secret could not be read: that is not missing',
      { secret: { kind: 'unknown', failure: '403 Forbidden' } },
      'AuthorityUnavailable',
      /is not read yet: 403 Forbidden; .*countersign check prints how to grant it/,
    ],
  ];

for (const [law, snapshot, reason, message] of reasons) {
  test(`not ready: ${law}`, () => {
    const plan = planOf(snapshot);
    const ready = readyOf(plan);
    assert.deepEqual([ready.status, ready.reason], ['False', reason]);
    assert.match(ready.message ?? '', message);
    assert.equal(ready.observedGeneration, 1);
    assert.equal(plan.step, undefined);
  });
}

test('a usable CA makes its signer ready, and the message has its fingerprint', () => {
  const ready = readyOf(planOf());
  assert.deepEqual([ready.status, ready.reason], ['True', 'Checked']);
  assert.equal(ready.message, `signing with ${fingerprintOf(A)}`);
});

test('a missing managed CA is generated', () => {
  const plan = planOf({ secret: missing });
  assert.deepEqual(
    [plan.step?.kind, plan.step?.kind === 'make' && plan.step.slot],
    ['make', 'tls'],
  );
  assert.deepEqual([readyOf(plan).status, readyOf(plan).reason], ['False', 'Initializing']);
});

const hands: [law: string, snapshot: Partial<SignerSnapshot>][] = [
  ['a Secret of that name without a grant', found(A, {}, NOBODY)],
  ['a Secret whose CA is broken', found(A, { 'tls.key': 'x' })],
  ['a failed read', { secret: { kind: 'unknown', failure: '500' } }],
  ['a read in progress', { secret: { kind: 'unknown', failure: undefined } }],
  ['an older ClusterSigner', { elder: 'first', secret: missing }],
  ['an invalid spec', { specError: fault('1'), secret: missing }],
];

for (const [law, snapshot] of hands) {
  test(`no CA is generated beside ${law}`, () => {
    assert.equal(planOf(snapshot).step, undefined);
  });
}

test('a failed read does not change an earlier result', () => {
  const signer = after(planOf());
  const unknown: SignerSnapshot['secret'] = { kind: 'unknown', failure: 'no answer' };
  const plan = planOf({ signer, secret: unknown, now: NOW + 60_000 });
  assert.deepEqual(plan.status, signer.status);
  assert.ok((plan.requeueAt ?? 0) > NOW + 60_000);
});

test('a result for an older generation does not count for a new one', () => {
  const signer = { ...after(planOf()), metadata: { ...workload().metadata, generation: 2 } };
  const plan = planOf({ signer, secret: { kind: 'unknown', failure: 'no answer' } });
  assert.deepEqual([readyOf(plan).status, plan.status.observedGeneration], ['False', 2]);
});
