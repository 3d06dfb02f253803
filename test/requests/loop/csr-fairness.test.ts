// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csrFairnessKey, csrRetainedFields } from '#requests/loop/csr-fairness.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';

const csr = (username?: string): CertificateSigningRequest =>
  ({ metadata: { name: 'a' }, spec: { username } }) as unknown as CertificateSigningRequest;

const same = (text: string): string => text;

test('requests of one user share a flow, whatever their names', () => {
  assert.deepEqual(csrFairnessKey(csr('jane')), csrFairnessKey(csr('jane')));
  assert.notDeepEqual(csrFairnessKey(csr('jane')), csrFairnessKey(csr('joe')));
});

test('the service accounts of one namespace share a flow: a tenant can create many', () => {
  const account = (namespace: string, name: string): unknown =>
    csrFairnessKey(csr(`system:serviceaccount:${namespace}:${name}`));
  assert.deepEqual(account('a', 'one'), account('a', 'two'));
  assert.notDeepEqual(account('a', 'one'), account('b', 'one'));
  assert.notDeepEqual(csrFairnessKey(csr('system:node:a')), csrFairnessKey(csr('system:node:b')));
});

test('a very long user name is shortened', () => {
  const endless = csr('x'.repeat(100_000));
  assert.ok(JSON.stringify(csrRetainedFields(endless, same)).length < 400);
  const left = { ...endless, ...csrRetainedFields(endless, same) };
  assert.deepEqual(csrFairnessKey(left), csrFairnessKey(endless));
  assert.deepEqual(csrRetainedFields(csr('jane'), same), { spec: { username: 'jane' } });
});
