// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate, createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import { PreparedCertificate, prepare } from '#ca/issuance/prepare.ts';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import { leafInput, NOW, openAuthority } from '../../support/ca/issuing.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { refuses } from '../../support/pki/refuses.ts';

const signal = new AbortController().signal;
const authority = await openAuthority();
const other = await openAuthority();

test('a prepared leaf becomes a certificate that node:crypto reads and verifies', async () => {
  const subject = {
    ...EMPTY_SUBJECT,
    commonName: 'web',
    organizations: ['dev', 'ops'],
    dnsNames: ['web.team-a.svc'],
    ipAddresses: ['10.0.0.7'],
  };
  const der = await authority.sign(prepare(leafInput(authority, { subject })), signal);
  const leaf = new X509Certificate(der);
  const ca = new X509Certificate(authority.facts.certificate.raw);
  assert.ok(leaf.verify(ca.publicKey));
  assert.ok(leaf.checkIssued(ca));
  assert.equal(leaf.ca, false);
  assert.equal(leaf.issuer, ca.subject);
  assert.equal(leaf.subject, 'O=dev\nO=ops\nCN=web');
  assert.equal(leaf.subjectAltName, 'DNS:web.team-a.svc, IP Address:10.0.0.7');
  assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  assert.equal(leaf.validFromDate.getTime(), NOW - 60_000);
  assert.equal(leaf.validToDate.getTime(), NOW - 60_000 + 3_600_000);
  assert.ok(leaf.publicKey.equals(createPublicKey(privateKey('P-256', 'leaf'))));
});

test('a Prepared is signed once; a second signature needs a new one', async () => {
  const prepared = prepare(leafInput(authority));
  await authority.sign(prepared, signal);
  refuses(
    () => authority.sign(prepared, signal),
    'PREPARED_SPENT',
    /was already signed; prepare a new one/,
    'retry',
  );
});

test('a Prepared is signed only by the CA that it was made for', async () => {
  const prepared = prepare(leafInput(authority));
  refuses(
    () => other.sign(prepared, signal),
    'PREPARED_SPENT',
    new RegExp(`was made for the CA ${authority.facts.fingerprint}`),
    'retry',
  );
  // The refused attempt spent nothing.
  assert.ok((await authority.sign(prepared, signal)).length > 0);
});

test('a Prepared cannot be constructed outside of prepare', () => {
  const { facts } = authority;
  assert.throws(
    () => new PreparedCertificate(Symbol('prepared'), new Uint8Array(), facts.certificate, facts),
    /only prepare\(\) makes a PreparedCertificate/,
  );
});

test('a copy or a subclass instance of a Prepared has no bytes to sign', () => {
  const prepared = prepare(leafInput(authority));
  const copies = [
    Object.assign(Object.create(PreparedCertificate.prototype) as PreparedCertificate, prepared),
  ];
  copies.push(Object.create(prepared) as PreparedCertificate);
  for (const copy of copies) {
    assert.throws(() => PreparedCertificate.consume(copy, authority.facts.fingerprint), TypeError);
    assert.throws(() => copy.equals(new Uint8Array()), TypeError);
  }
});

test('an object that merely has the shape of a Prepared is not signed', () => {
  const lookalike = {
    validity: prepare(leafInput(authority)).validity,
    redeem: () => Uint8Array.of(0x30, 0),
    equals: () => true,
    requirePath: () => undefined,
  };
  assert.throws(
    () => authority.sign(lookalike as unknown as PreparedCertificate, signal),
    TypeError,
  );
  const genuine = Object.assign(prepare(leafInput(authority)), { redeem: lookalike.redeem });
  assert.doesNotThrow(() => PreparedCertificate.consume(genuine, authority.facts.fingerprint));
});

test('reading the bytes of a Prepared uses it up', () => {
  assert.deepEqual(Object.keys(prepare(leafInput(authority))), ['validity']);
});

test('a returned certificate is decoded in full, also if it equals the prepared one', async () => {
  const prepared = prepare(leafInput(authority));
  const der = await authority.sign(prepared, signal);
  assert.deepEqual(prepared.decode(der), decodeCertificate(der));
  const another = await authority.sign(
    prepare(leafInput(authority, { subject: { ...EMPTY_SUBJECT, dnsNames: ['other.test'] } })),
    signal,
  );
  assert.deepEqual(prepared.decode(another), decodeCertificate(another));
  assert.deepEqual(prepared.decode(another).sans.dnsNames, ['other.test']);
});

test('a leaf without subject and alternative names is never prepared', () => {
  refuses(
    () => prepare(leafInput(authority, { subject: EMPTY_SUBJECT })),
    'LINT_FAILED',
    /neither a subject nor a subject alternative name/,
    'wait',
  );
});

test('a leaf that outlives its CA is never prepared', () => {
  const validity = { notBefore: NOW, notAfter: authority.facts.notAfter + 1000 };
  refuses(
    () => prepare(leafInput(authority, { validity })),
    'LINT_FAILED',
    /^not signed, because the certificate would break a rule: validity-inside-issuer .*outlives its CA$/,
    'wait',
  );
});

test('all faults are reported together', () => {
  const validity = { notBefore: NOW, notAfter: NOW };
  refuses(
    () => prepare(leafInput(authority, { subject: EMPTY_SUBJECT, validity, usages: [] })),
    'LINT_FAILED',
    /whole-seconds .*; usage-present .*; san-for-empty-subject /,
    'wait',
  );
});

test('without randomness no leaf is prepared', () => {
  const failing = (): never => {
    throw new Error('no entropy');
  };
  assert.throws(() => prepare(leafInput(authority, { random: failing })), /no entropy/);
});
