// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkTrustDomain } from '#trust/spiffe/trust-domain.ts';

test('a trust domain has a–z, 0–9, dots, hyphens and underscores (SPIFFE-ID §2.1)', () => {
  for (const name of ['prod.example.com', 'alice', 'a_b-1.c', 'a'.repeat(255)])
    assert.equal(checkTrustDomain(name), name);
  for (const name of [
    '',
    'Prod.example.com',
    'spiffe://a',
    'a/b',
    'a:1',
    'a@b',
    'a'.repeat(256),
    'a b',
  ])
    assert.throws(() => checkTrustDomain(name), { code: 'NAME_INVALID' }, name);
});
