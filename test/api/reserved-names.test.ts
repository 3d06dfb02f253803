// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReservedName } from '../../src/api/reserved-names.ts';

const RESERVED = [
  'system:masters',
  'System:Masters',
  ' system:masters',
  '\u0000system:node:a',
  'sys\u0000tem:masters',
  'system\u200b:masters',
  '\u2007system:masters',
  'ｓｙｓｔｅｍ:masters',
  '\u212aubeadm:cluster-admins',
  'KUBEADM:cluster-admins',
  'kubeadm:',
];

for (const name of RESERVED) {
  test(`a reserved name is reserved however it is spelt: ${JSON.stringify(name)}`, () => {
    assert.equal(isReservedName(name, []), true);
  });
}

test('a name that merely holds a reserved word is free', () => {
  for (const name of ['', 'system', 'systems:a', 'my-system:a', 'kubeadm', 'alice']) {
    assert.equal(isReservedName(name, []), false, name);
  }
});

test('the operator reserves more prefixes, compared in the same way', () => {
  assert.equal(isReservedName('OIDC:alice', ['oidc:']), true);
  assert.equal(isReservedName('oidc:alice', ['OIDC:']), true);
  assert.equal(isReservedName('alice', ['oidc:']), false);
});
