// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csrPlace, csrStays } from '../../../src/runtime/requests/csr-place.ts';
import type { CertificateSigningRequest } from '../../../src/api/request/csr.ts';

const csr = (username?: string): CertificateSigningRequest =>
  ({ metadata: { name: 'a' }, spec: { username } }) as unknown as CertificateSigningRequest;

const same = (text: string): string => text;

test('requests of one user wait behind each other, whatever they are called', () => {
  assert.deepEqual(csrPlace(csr('jane')), csrPlace(csr('jane')));
  assert.notDeepEqual(csrPlace(csr('jane')), csrPlace(csr('joe')));
});

test('of a user with an endless name a short one stays', () => {
  const endless = csr('x'.repeat(100_000));
  assert.ok(JSON.stringify(csrStays(endless, same)).length < 400);
  const left = { ...endless, ...csrStays(endless, same) };
  assert.deepEqual(csrPlace(left), csrPlace(endless));
  assert.deepEqual(csrStays(csr('jane'), same), { spec: { username: 'jane' } });
});
