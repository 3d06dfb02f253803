// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { purposes } from '../../support/pki/chain.ts';
import { openConstrained } from '../../support/authorities/intermediate.ts';
import { start } from './actor.ts';

test('what the CA’s purposes forbid is refused before it is signed, however often it is tried', async () => {
  let signatures = 0;
  const constrained = openConstrained(purposes('1.3.6.1.5.5.7.3.1'));
  const authority: typeof constrained = {
    ...constrained,
    sign: (...args) => {
      signatures += 1;
      return constrained.sign(...args);
    },
  };
  const stage = start({}, () => authority);
  for (let i = 0; i < 3; i += 1) {
    await assert.rejects(stage.handle(), {
      code: 'PATH_INVALID',
      disposition: 'authority',
      message: /does not allow the purpose/,
    });
  }
  assert.equal(signatures, 0);
  assert.deepEqual(stage.requests, []);
});
