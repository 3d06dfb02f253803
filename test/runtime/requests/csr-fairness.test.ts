// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csrFairnessKey, csrRetainedFields } from '../../../src/runtime/requests/csr-fairness.ts';
import type { CertificateSigningRequest } from '../../../src/api/request/csr.ts';

const csr = (username?: string): CertificateSigningRequest =>
  ({ metadata: { name: 'a' }, spec: { username } }) as unknown as CertificateSigningRequest;

const same = (text: string): string => text;

test('requests of one user share a flow, whatever their names', () => {
  assert.deepEqual(csrFairnessKey(csr('jane')), csrFairnessKey(csr('jane')));
  assert.notDeepEqual(csrFairnessKey(csr('jane')), csrFairnessKey(csr('joe')));
});

test('a very long user name is shortened', () => {
  const endless = csr('x'.repeat(100_000));
  assert.ok(JSON.stringify(csrRetainedFields(endless, same)).length < 400);
  const left = { ...endless, ...csrRetainedFields(endless, same) };
  assert.deepEqual(csrFairnessKey(left), csrFairnessKey(endless));
  assert.deepEqual(csrRetainedFields(csr('jane'), same), { spec: { username: 'jane' } });
});
