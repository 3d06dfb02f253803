// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import {
  orderIdentifiers,
  type UnorderableRequest,
} from '#acme/acme/requests/order-identifiers.ts';
import type { OrderContents } from '#acme/acme/requests/decide.ts';
import { copyRequestedNames } from '#ca/issuance/leaf-subject.ts';
import { REQUEST_FIELDS, type RequestField } from '#base/vocabulary.ts';
import { acmeObject } from '../../../api/acme/build.ts';
import { CN, made, O, type Wanted } from '../../../ca/policy/request.ts';
import { SIGNER } from './build.ts';

function asked(
  wanted: Wanted,
  copy: readonly RequestField[] = REQUEST_FIELDS,
  signer = SIGNER,
): OrderContents | UnorderableRequest {
  const { csr, request } = made(wanted);
  return orderIdentifiers(csr.spec.request, copyRequestedNames(request, copy), signer);
}

function namesIn(found: OrderContents | UnorderableRequest): readonly string[] {
  assert.ok('identifiers' in found, JSON.stringify(found));
  return found.identifiers.map(({ type, value }) => `${type} ${value}`);
}

function faultOf(found: OrderContents | UnorderableRequest): string {
  return 'fault' in found ? `${found.fault}: ${found.message}` : 'nothing';
}

const NOBODY = { subject: [] };

test('DNS names, wildcards and addresses are asked for, each once', () => {
  const found = asked({
    ...NOBODY,
    dnsNames: ['a.example', '*.a.example'],
    ipAddresses: [[192, 0, 2, 1]],
  });
  assert.deepEqual(namesIn(found), ['dns a.example', 'dns *.a.example', 'ip 192.0.2.1']);
});

test('a common name counts, too: once where it is among the names', () => {
  const subject = [[CN, 'a.example']] as const;
  assert.deepEqual(namesIn(asked({ subject, dnsNames: ['a.example'] })), ['dns a.example']);
  assert.deepEqual(namesIn(asked({ subject, dnsNames: ['b.example'] })), [
    'dns b.example',
    'dns a.example',
  ]);
  assert.deepEqual(namesIn(asked({ subject: [[CN, '192.0.2.7']] })), ['ip 192.0.2.7']);
});

test('the PKCS#10 request goes to the server byte by byte', () => {
  const { csr, request } = made({ ...NOBODY, dnsNames: ['a.example'] });
  const found = orderIdentifiers(
    csr.spec.request,
    copyRequestedNames(request, REQUEST_FIELDS),
    SIGNER,
  );
  assert.ok('request' in found);
  assert.deepEqual(Buffer.from(found.request, 'base64'), Buffer.from(request.raw));
});

test('a profile of the server is asked for where the signer sets one', () => {
  const signer = readAcmeSigner(acmeObject({ profile: 'tlsserver' }, 'example.com/public'));
  const found = asked({ ...NOBODY, dnsNames: ['a.example'] }, REQUEST_FIELDS, signer);
  assert.ok('profile' in found && found.profile === 'tlsserver');
});

test('what no ACME server certifies ends the request, with what to leave out', () => {
  assert.match(faultOf(asked({ ...NOBODY, uris: ['spiffe://a/b'] })), /^request: .*uris.*leave/);
  assert.match(faultOf(asked({ ...NOBODY, emails: ['a@a.example'] })), /^request: .*emails/);
  assert.match(faultOf(asked({ subject: [[O, 'Org']], dnsNames: ['a.example'] })), /organizations/);
  assert.match(faultOf(asked({ subject: [[CN, 'My server']] })), /^request: its common name "My/);
  assert.match(faultOf(asked(NOBODY)), /^request: it requests neither a DNS name nor an address/);
});

test('a request of more than a hundred names is not asked for', () => {
  const dnsNames = Array.from({ length: 101 }, (_none, index) => `n${index}.example`);
  assert.match(faultOf(asked({ ...NOBODY, dnsNames })), /101 names, more than the 100/);
  assert.equal(namesIn(asked({ ...NOBODY, dnsNames: dnsNames.slice(1) })).length, 100);
});

test('names that the signer does not copy are the signer’s to fix: all or none', () => {
  const found = asked({ ...NOBODY, dnsNames: ['a.example'] }, ['commonName']);
  assert.match(faultOf(found), /^signer: spec\.requests\.copy does not list dnsNames/);
});
