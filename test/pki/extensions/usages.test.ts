// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { usageBits } from '#pki/extensions/usages.ts';
import { KEY_USAGES } from '#base/vocabulary.ts';
import { refuses } from '../../support/pki/refuses.ts';
import { KP, MEANINGS } from '../../support/pki/usage-oids.ts';

describe('each usage of the API is one key usage bit or one extended key usage', () => {
  for (const usage of KEY_USAGES) {
    test(usage, () => {
      const { keyUsage, extKeyUsage } = usageBits([usage]);
      assert.deepEqual([...keyUsage, ...extKeyUsage], [MEANINGS[usage]]);
    });
  }
});

test('usages have one order and no duplicates, however they are requested', () => {
  const asked = [
    'client auth',
    's/mime',
    'server auth',
    'email protection',
    'key encipherment',
    'signing',
    'digital signature',
  ];
  const wanted = {
    keyUsage: ['digitalSignature', 'keyEncipherment'],
    extKeyUsage: [`${KP}.1`, `${KP}.2`, `${KP}.4`],
  };
  assert.deepEqual(usageBits(asked), wanted);
  assert.deepEqual(usageBits(asked.toReversed()), wanted);
  assert.deepEqual(usageBits([...asked, ...asked]), wanted);
});

describe('a usage unknown to the API is refused', () => {
  for (const usage of [
    '',
    'Server Auth',
    'server auth ',
    'constructor',
    '__proto__',
    'toString',
    'x'.repeat(9999),
  ]) {
    test(JSON.stringify(usage.slice(0, 20)), () => {
      refuses(() => usageBits(['server auth', usage]), 'USAGE_UNKNOWN', /^.{1,200}$/);
    });
  }
});
