// SPDX-License-Identifier: Apache-2.0
/** SPIFFE Federation §5.1, §5.2.1.1, §5.2.2.1, §5.2.2.2. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readForeignDomain } from '#trust/spiffe/foreign-domain.ts';

test('trust domain, profile and URL are said, with the server’s ID for https_spiffe', () => {
  assert.deepEqual(readForeignDomain('a.example,https_web,https://x.example/b,c?d=e,f'), {
    trustDomain: 'a.example',
    profile: 'https_web',
    url: 'https://x.example/b,c?d=e,f',
  });
  const spiffe = readForeignDomain('a.example,https_spiffe,spiffe://a.example/b,https://x/');
  assert.equal(spiffe.endpointId, 'spiffe://a.example/b');
});

for (const text of [
  'a.example,https://x/',
  'a.example,https_web',
  'https_web,https://x/',
  ',https_web,https://x/',
  'a.example,https_web,http://x/',
  'a.example,https_web,https://user@x/',
  'a.example,https_web,x',
  'a.example,https_spiffe,https://x/',
  'a.example,https_spiffe,spiffe://a.example,https://x/',
  'a.example,https_spiffe,spiffe://A.example/b,https://x/',
  'a.example,https_spiffe,spiffe://a.example/../b,https://x/',
  'a.example,https_spiffe,spiffe://a.example/b/,https://x/',
  'A.example,https_web,https://x/',
  'a_b.example,https_web,https://x/',
])
  test(`${text} is refused`, () => {
    assert.throws(() => readForeignDomain(text), { name: 'SignerError' });
  });
