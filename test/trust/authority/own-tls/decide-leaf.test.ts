// SPDX-License-Identifier: Apache-2.0
/** Serving Secrets in every shape: which are filled again, and which are never written. */
import assert from 'node:assert/strict';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import type { Secret } from '#api/object/object.ts';
import type { LeafSnapshot } from '#trust/authority/own-tls/decide-leaf.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { NOW } from '../../../support/ca/issuing.ts';
import {
  CA,
  SERVICE,
  DESIRED,
  caOf,
  planOf,
  secretWith,
  texts,
} from '../../../support/trust/own-tls-stage.ts';

const good = await texts();
const other = await texts();
const replaced = await texts({}, await caOf('Countersign serving CA', NOW - 86_400_000));
const expired = await texts({}, await caOf('Old', NOW - 60 * 86_400_000), NOW - 50 * 86_400_000);
const { key, pem } = await generatePrivateKey('ECDSAP256');
const encrypted = key.export({
  type: 'pkcs8',
  format: 'pem',
  cipher: 'aes-256-cbc',
  passphrase: 'x',
} as const) as string;
const root = Buffer.from(CA.facts.certificate.raw).toString('base64');
const rootPem = `-----BEGIN CERTIFICATE-----\n${(root.match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`;

const filledAnew: readonly [law: string, secret: Secret, reason: string][] = [
  ['one that the manifests have just made', secretWith(undefined), 'Unusable'],
  ['empty texts', secretWith({ 'tls.crt': '', 'tls.key': '' }), 'Unusable'],
  ['a certificate without a key', secretWith({ 'tls.crt': good['tls.crt'] }), 'Unusable'],
  ['a key without a certificate', secretWith({ 'tls.key': good['tls.key'] }), 'Unusable'],
  ['no PEM', secretWith({ ...good, 'tls.crt': 'no PEM' }), 'Unusable'],
  ['a key that is no PEM', secretWith({ ...good, 'tls.key': 'no PEM' }), 'Unusable'],
  [
    'half a certificate',
    secretWith({ ...good, 'tls.crt': good['tls.crt'].slice(0, 300) }),
    'Unusable',
  ],
  [
    'DER that is damaged',
    secretWith({ ...good, 'tls.crt': good['tls.crt'].replace('MII', 'MIH') }),
    'Unusable',
  ],
  ['the key of another', secretWith({ ...good, 'tls.key': other['tls.key'] }), 'Unusable'],
  ['a key that is encrypted', secretWith({ ...good, 'tls.key': encrypted }), 'Unusable'],
  ['two keys', secretWith({ ...good, 'tls.key': good['tls.key'] + pem }), 'Unusable'],
  [
    'a cut-off block behind the certificate',
    secretWith({ ...good, 'tls.crt': `${good['tls.crt']}-----BEGIN CERT` }),
    'Unusable',
  ],
  ['a CA in the place of the leaf', secretWith({ ...good, 'tls.crt': rootPem }), 'Unusable'],
  ['one that has expired', secretWith(expired), 'Unusable'],
  [
    'two certificates',
    secretWith({ ...good, 'tls.crt': good['tls.crt'] + other['tls.crt'] }),
    'AuthorityReplaced',
  ],
  [
    'the root behind the leaf',
    secretWith({ ...good, 'tls.crt': good['tls.crt'] + rootPem }),
    'AuthorityReplaced',
  ],
  ['a leaf of the CA before', secretWith(replaced), 'AuthorityReplaced'],
  ['a key of another type', secretWith(await texts({ keyType: 'ED25519' })), 'KeyTypeChanged'],
  ['names of another Service', secretWith(await texts({ dnsNames: ['a.svc'] })), 'NamesChanged'],
  [
    'an annotation of another duration',
    secretWith(good, { annotations: { 'countersign.dev/duration': '1h' } }),
    'DurationChanged',
  ],
  ['no annotation of its duration', secretWith(good, { annotations: {} }), 'DurationChanged'],
];

for (const [law, secret, reason] of filledAnew) {
  test(`${law}: issued again, ${reason}`, () => {
    const plan = planOf(secret);
    assert.ok(plan.kind === 'issue');
    assert.equal(plan.due.reason, reason);
  });
}

test('the plan’s reason contains no part of a key', () => {
  for (const [, secret] of filledAnew) {
    assert.doesNotMatch(JSON.stringify({ ...planOf(secret), secret: '' }), /PRIVATE|BEGIN [A-Z]/);
  }
});

test('a component that does not run misses no Secret: nothing is reported', () => {
  assert.deepEqual(planOf(undefined, { runs: false }), { kind: 'keep', lookAt: undefined });
});

const neverWritten: readonly [law: string, secret: Secret | undefined, why: RegExp][] = [
  ['one that is not there', undefined, /does not exist; repeat helm upgrade, countersign install/],
  [
    'one whose owner did not consent',
    secretWith(good, { annotations: { 'countersign.dev/filled-by': '' } }),
    /may not be filled in by Countersign/,
  ],
  [
    'one that another signer name fills in',
    secretWith(undefined, { annotations: { 'countersign.dev/filled-by': 'a.example/b' } }),
    /filled-by: countersign.dev\/serving/,
  ],
  ['one that is immutable', secretWith(undefined, { immutable: true }), /is immutable/],
  [
    'one that Kubernetes itself reads',
    secretWith(undefined, { type: 'kubernetes.io/service-account-token' }),
    /is of type kubernetes.io\/service-account-token/,
  ],
];

for (const [law, secret, why] of neverWritten) {
  test(`${law} is never written, and the reason is reported`, () => {
    const plan = planOf(secret);
    assert.ok(plan.kind === 'wait');
    assert.match(plan.why, why);
  });
}

test('a Secret of type kubernetes.io/tls is accepted', () => {
  assert.equal(planOf(secretWith(good, { type: 'kubernetes.io/tls' })).kind, 'keep');
});

const broken = new SignerError({
  code: 'AUTHORITY_MISSING',
  disposition: 'authority',
  message: 'no CA',
});

const rows: readonly [law: string, more: Partial<LeafSnapshot>, kind: string][] = [
  [
    'a read that failed is no Secret that is missing',
    { secret: { kind: 'unknown', failure: '503' } },
    'keep',
  ],
  ['while the CA cannot sign nothing is written', { authority: broken }, 'wait'],
  ['while readers have not got the CA nothing new is shown', { readFrom: undefined }, 'wait'],
  ['until the moment when they have it', { readFrom: NOW + 1 }, 'wait'],
  ['from that moment on it is', { readFrom: NOW }, 'issue'],
];

for (const [law, more, kind] of rows) {
  test(`${law}: ${kind}`, () => {
    assert.equal(planOf(secretWith(undefined), more).kind, kind);
  });
}

test('an up-to-date Secret is not written, and is looked at again when it is due', () => {
  const end = Date.parse(new X509Certificate(good['tls.crt']).validTo);
  const plan = planOf(secretWith(good));
  assert.deepEqual(plan, { kind: 'keep', lookAt: end - (DESIRED.durationSeconds * 1000) / 5 });
});

test('the issued certificate is a server certificate of the CA for the Service’s key', () => {
  const leaf = new X509Certificate(good['tls.crt']);
  const ca = new X509Certificate(rootPem);
  assert.ok(leaf.checkIssued(ca) && leaf.verify(ca.publicKey) && !leaf.ca);
  assert.ok(leaf.checkPrivateKey(createPrivateKey(good['tls.key'])));
  assert.equal(leaf.checkHost(SERVICE), SERVICE);
  assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  const life = Date.parse(leaf.validTo) - Date.parse(leaf.validFrom);
  assert.equal(life, DESIRED.durationSeconds * 1000);
});
