// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explicit, extension, implicit, seq } from '../../support/pki/der.ts';
import { openConstrained } from '../../support/authorities/intermediate.ts';
import { start } from './actor.ts';

/** nameConstraints: URIs of another host than the cluster's only. */
const elsewhere = extension(
  '2.5.29.30',
  seq(explicit(0, seq(implicit(6, Buffer.from('example.org'))))),
  true,
);

test('what the CA’s name constraints forbid is refused before it is signed, however often it is tried', async () => {
  let signatures = 0;
  const constrained = openConstrained(elsewhere);
  const authority: typeof constrained = {
    ...constrained,
    sign: (...args) => {
      signatures += 1;
      return constrained.sign(...args);
    },
  };
  const stage = start({ authority: () => authority });
  for (let i = 0; i < 3; i += 1) {
    await assert.rejects(stage.handle(), {
      code: 'PATH_INVALID',
      disposition: 'authority',
      message: /outside a CA’s name constraints/,
    });
  }
  assert.equal(signatures, 0);
  assert.deepEqual(stage.requests, []);
});
