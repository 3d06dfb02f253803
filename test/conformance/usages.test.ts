// SPDX-License-Identifier: Apache-2.0
/** Usages that a key cannot have, and a leaf that is good for any. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CSR_CASES } from '#conformance/csr/cases.ts';
import { keyUsage } from '#pki/extensions/encode-extensions.ts';
import { requestedFor, withScenario } from '../support/conformance/csr-snapshot.ts';
import { instead, without } from '../support/conformance/leaf.ts';
import { issued, requested } from '../support/conformance/observed-requests.ts';
import { resultOf } from '../support/conformance/result-of.ts';

const usages = ['digital signature', 'key encipherment', 'client auth'];

test('a leaf lacks encipherment for an ECDSA key, as RFC 8813 §3 requires', () => {
  const result = resultOf(
    CSR_CASES,
    'CSR-39',
    withScenario('plain', issued(requested({ usages }))),
  );
  assert.equal(result.outcome, 'pass', result.evidence);
});

test('a leaf for an RSA key must have the requested encipherment', () => {
  const { keyType, spki } = requestedFor('RSA2048');
  const wanted = requested({ usages, keyType, spki });
  const leaf = issued(wanted, instead(keyUsage(['digitalSignature'])));
  assert.equal(resultOf(CSR_CASES, 'CSR-39', withScenario('plain', leaf)).outcome, 'fail');
});

test('a leaf without extKeyUsage is good for any purpose (RFC 5280 §4.2.1.12)', () => {
  const leaf = issued(requested({ usages: ['digital signature', 'any'] }), without('2.5.29.37'));
  assert.equal(resultOf(CSR_CASES, 'CSR-42', withScenario('anyUsage', leaf)).outcome, 'fail');
});
