// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodCertificateRequest } from '../../../src/api/request/pod-certificate-request.ts';
import { checkAnnotations } from '../../../src/controllers/pcr-issuer/annotations.ts';
import { compilePodProfile } from '../../../src/issuance/pod-profile.ts';

const pods = compilePodProfile({
  allow: 'true',
  commonName: 'pod.name',
  annotations: [{ key: 'example.com/role', pattern: '(?s).*' }],
});

function asking(annotations: Readonly<Record<string, string>>): PodCertificateRequest {
  return { spec: { unverifiedUserAnnotations: annotations } } as unknown as PodCertificateRequest;
}

function denial(annotations: Readonly<Record<string, string>>): string {
  const plan = checkAnnotations(asking(annotations), pods);
  assert.ok(plan?.kind === 'deny' && plan.reason === 'InvalidUnverifiedUserAnnotations');
  return plan.message;
}

test('what the signer knows and matches whole is not denied', () => {
  assert.equal(checkAnnotations(asking({ 'example.com/role': 'web' }), pods), undefined);
});

test('ten thousand unknown annotations make a message that a person can read', () => {
  const many = Array.from({ length: 10_000 }, (_none, index) => [`a.b/${index}`, ''] as const);
  const message = denial(Object.fromEntries(many));
  assert.ok(message.length < 1_000, `${message.length} characters`);
  assert.match(message, /"a\.b\/0" is not an annotation of this signer.*and 9995 more/);
});

test('nothing of a foreign value acts on a terminal', () => {
  const message = denial({ 'example.com/other\u202e': 'x', 'a.b/c': '\u001b[31m' });
  assert.doesNotMatch(message, /[\p{Cc}\p{Cf}]/u);
});

test('a value that no expression could ever take is denied and does not wait for ever', () => {
  assert.match(denial({ 'example.com/role': 'x'.repeat(4_097) }), /may not have the value/);
});
