// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReservedName } from '#api/signer/reserved-names.ts';

const ALIKE = [
  'system\u2236masters',
  'system\ua789masters',
  'system\u02d0masters',
  'system\u0589masters',
  'system\u05c3masters',
  'system\ua4fdmasters',
  'system\u16ecmasters',
  'system\u0903masters',
  's\u0443stem:masters',
  '\u0455\u0443\u0455\u0442\u0435\u043c:masters',
  '\u0405Y\u0405TEM:masters',
  '\ua4e2\ua4ec\ua4e2\ua4d4\ua4f0\ua4df\ua4fdmasters',
  '\ua731\u028f\ua731\u1d1b\u1d07\u1d0d:masters',
  's\u00fdst\u00e9m:masters',
  'sy\u0336stem:masters',
  '\u043aubeadm:cluster-admins',
  'kub\u0435\u0430dm\u2236x',
  '\u2800system:masters',
  'sys\u2800tem:masters',
  'system\ue000:masters',
  'system\u{e0100}:masters',
];

const FREE = [
  'группа:разработка',
  'москва:иван',
  'systemów',
  'system–admins',
  'système',
  'systèmes:a',
  'système de fichiers',
  '系统管理员组:a',
  'σύστημα:a',
  'jürgen:dev',
  'ユーザー名:a',
];

for (const name of ALIKE) {
  test(`a name that looks reserved is reserved: ${JSON.stringify(name)}`, () => {
    assert.equal(isReservedName(name, []), true);
  });
}

test('words of other scripts are free, also before a colon', () => {
  assert.deepEqual(
    FREE.filter((name) => isReservedName(name, [])),
    [],
  );
});

test('a mark that looks like a colon is one', () => {
  for (const colon of [
    '\u0703',
    '\u0704',
    '\u1803',
    '\u1809',
    '\u205a',
    '\ufe30',
    '\uff1a',
    '\ufe55',
  ]) {
    assert.equal(isReservedName(`system${colon}x`, []), true, JSON.stringify(colon));
  }
});
