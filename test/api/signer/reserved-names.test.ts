// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { isReservedName } from '#api/signer/reserved-names.ts';

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
  // Default-ignorable, and what LDAP maps to nothing (RFC 4518 §2.2).
  'syste\u034fm:masters',
  'sys\ufe0ftem:masters',
  'system\u180b:masters',
  '\u3164system:masters',
  '\u200b \u115fsystem:masters',
  'sys\ufffctem:masters',
  'sy\u1806stem:masters',
  `${'\u034f'.repeat(5000)}system:masters`,
];

for (const name of RESERVED) {
  test(`a name is reserved in any spelling: ${JSON.stringify(name.slice(0, 30))}`, () => {
    assert.equal(isReservedName(name, []), true);
  });
}

test('a name that merely contains a reserved word is free', () => {
  for (const name of ['', 'system', 'systems:a', 'my-system:a', 'kubeadm', 'alice']) {
    assert.equal(isReservedName(name, []), false, name);
  }
});

test('prefixes reserved by the operator are compared in the same way', () => {
  assert.equal(isReservedName('OIDC:alice', ['oidc:']), true);
  assert.equal(isReservedName('oidc:alice', ['OIDC:']), true);
  assert.equal(isReservedName('alice', ['oidc:']), false);
});

test('normalizes only the beginning of a long name, since that is quadratic', () => {
  const watched = mock.method(String.prototype, 'normalize');
  const marks = (count: number): string => `a${'\u0301'.repeat(count)}${'\u0323'.repeat(count)}`;
  for (const count of [1_000, 2_000, 4_000]) assert.equal(isReservedName(marks(count), []), false);
  assert.equal(isReservedName(`system:${marks(4_000)}`, []), true);
  const lengths = watched.mock.calls.map((call) => String(call.this).length);
  watched.mock.restore();
  assert.ok(lengths.length > 0 && Math.max(...lengths) < 100, `${lengths.join(', ')} characters`);
});
