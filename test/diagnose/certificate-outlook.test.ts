// SPDX-License-Identifier: Apache-2.0
/** What a certificate would lack is known before its request is approved. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withApproval } from '#api/request/csr.ts';
import { REQUEST_FIELDS } from '#base/vocabulary.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import { omittedFields } from '#ca/policy/omitted-fields.ts';
import { explainSigningRequest } from '#diagnose/explain/certificate-signing-request.ts';
import type { Explanation } from '#diagnose/explain/explanation.ts';
import { explanationText } from '#diagnose/explain/text.ts';
import { API_LINTS } from '#diagnose/lint/api-rules.ts';
import { lintRequest } from '#diagnose/lint/lint-request.ts';
import { extension, oid, seq } from '../support/pki/der.ts';
import { derOf, made, specOf, type Wanted } from '../ca/policy/request.ts';
import { state } from '../operations/signer-states.ts';

const TLS = ['digital signature', 'server auth'];
const SERVER_AUTH = extension('2.5.29.37', seq(oid('1.3.6.1.5.5.7.3.1')));
const NAMED = { usages: TLS, dnsNames: ['a.example.com'] };

function outlook(wanted: Wanted, spec = specOf({ copy: REQUEST_FIELDS })): Explanation {
  const signer = { ...state().signer, spec };
  const view = { signerName: spec.signerName, signer, unusable: undefined };
  return { object: 'csr/jane-1', ...explainSigningRequest(made(wanted).csr, view) };
}

const rulesOf = (wanted: Wanted): readonly string[] =>
  (API_LINTS.get('CertificateSigningRequest')?.(made(wanted).csr, 'x') ?? []).map(
    ({ rule, severity }) => `${severity} ${rule}`,
  );

test('lint warns of a request for a server that has only a common name', () => {
  assert.deepEqual(rulesOf({ usages: TLS }), ['warning server-has-names']);
  assert.deepEqual(rulesOf(NAMED), []);
  assert.deepEqual(rulesOf({ usages: TLS, ipAddresses: [[10, 0, 0, 1]] }), []);
  assert.deepEqual(rulesOf({ usages: ['digital signature', 'client auth'] }), []);
});

test('lint of a file reads the purpose in its extKeyUsage', () => {
  const rules = (wanted: Wanted): readonly string[] =>
    lintRequest({ der: derOf(wanted) }, 'x').map(({ rule }) => rule);
  assert.deepEqual(rules({ extensions: [SERVER_AUTH] }), ['server-has-names']);
  assert.deepEqual(rules({ extensions: [SERVER_AUTH], dnsNames: ['a.example.com'] }), []);
  assert.deepEqual(rules({}), []);
});

test('a server certificate without names is a notice, and no refusal', () => {
  const is = outlook({ usages: TLS });
  assert.match(
    is.notices?.join() ?? '',
    /clients would reject .* common name; request subject alt/,
  );
  assert.equal(is.wouldFail, undefined);
  assert.equal(is.noApprovalHelps, undefined);
  assert.match(explanationText(is), /before you approve it:\n {4}clients would reject/);
});

test('names that the signer does not copy are listed as in the Event', () => {
  const spec = specOf({ copy: ['commonName'] });
  const { csr, request } = made(NAMED);
  const { profile, maxDurationSeconds } = compilePolicy(spec);
  const event = omittedFields(csr.spec, request, { copy: profile.copy, maxDurationSeconds }) ?? '';
  assert.match(event, /no dnsNames "a\.example\.com"/);
  const [lacks = '', unnamed = '', ...more] = outlook(NAMED, spec).notices ?? [];
  assert.deepEqual(more, []);
  assert.equal(lacks, `the certificate would have ${event}`);
  assert.match(unnamed, /clients would reject/);
});

test('a validity that is cut short ends the sentence', () => {
  const notices = outlook({ ...NAMED, expirationSeconds: 99_999_999 }).notices ?? [];
  assert.match(
    notices.join(),
    /^the certificate would have a validity of \w+ and not of 27777h46m39s: /,
  );
});

test('a request whose certificate has everything gets no notice, nor an approved one', () => {
  assert.equal(outlook(NAMED).notices, undefined);
  const spec = specOf({ copy: ['commonName'] });
  const signer = { ...state().signer, spec };
  const view = { signerName: spec.signerName, signer, unusable: undefined };
  const approval = { type: 'Approved', reason: 'Person', message: '' } as const;
  const csr = withApproval(made(NAMED).csr, approval, 0);
  assert.equal(explainSigningRequest(csr, view).notices, undefined);
});
