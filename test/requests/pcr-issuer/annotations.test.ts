// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { checkAnnotations } from '#requests/pcr-issuer/annotations.ts';
import { compilePodProfile } from '#ca/issuance/pod-profile.ts';

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

test('an annotation that the signer declares and whose pattern matches is not denied', () => {
  assert.equal(checkAnnotations(asking({ 'example.com/role': 'web' }), pods), undefined);
});

test('ten thousand unknown annotations give a short message', () => {
  const many = Array.from({ length: 10_000 }, (_none, index) => [`a.b/${index}`, ''] as const);
  const message = denial(Object.fromEntries(many));
  assert.ok(message.length < 1_000, `${message.length} characters`);
  assert.match(message, /"a\.b\/0" is not an annotation of this signer.*and 9995 more/);
});

test('the message contains no control characters of a user’s value', () => {
  const message = denial({ 'example.com/other\u202e': 'x', 'a.b/c': '\u001b[31m' });
  assert.doesNotMatch(message, /[\p{Cc}\p{Cf}]/u);
});

test('a value that is too long for expressions is denied at once', () => {
  assert.match(denial({ 'example.com/role': 'x'.repeat(4_097) }), /may not have the value/);
});
