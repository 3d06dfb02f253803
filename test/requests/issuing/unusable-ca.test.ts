// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { Authority } from '#ca/custody/contract.ts';
import { SignerError } from '#base/errors.ts';
import { openConstrained, openIntermediate } from '../../support/ca/intermediate.ts';
import { openAuthority } from '../../support/ca/issuing.ts';
import { forEachKind } from './kinds.ts';

const unusable = (): SignerError =>
  new SignerError({ code: 'AUTHORITY_MISSING', disposition: 'authority', message: 'no Secret' });
const another = await openAuthority();
const genuine = openIntermediate();

/** Time or people fix each of them. */
const troubles: [law: string, authority: () => Authority, code: string][] = [
  [
    'does not exist',
    () => {
      throw unusable();
    },
    'AUTHORITY_MISSING',
  ],
  [
    'refuses to sign',
    () => ({ ...genuine, sign: () => Promise.reject(unusable()) }),
    'AUTHORITY_MISSING',
  ],
  [
    'returns another certificate than the one that was asked for',
    () => ({ ...genuine, sign: () => Promise.resolve(another.facts.certificate.raw) }),
    'CORRESPONDENCE',
  ],
  [
    'has a chain that does not lead to its anchors',
    () => ({ ...genuine, facts: { ...genuine.facts, anchors: another.facts.anchors } }),
    'PATH_INVALID',
  ],
];

for (const [law, authority, code] of troubles) {
  forEachKind(`a request waits, and nothing is written, while its CA ${law}`, async (kind) => {
    const stage = kind.start({ authority });
    await assert.rejects(stage.handle(), { code, disposition: 'authority' });
    assert.deepEqual(stage.requests, []);
  });
}

forEachKind('a request that waited for its CA is signed once the CA is usable', async (kind) => {
  let ill = true;
  const stage = kind.start({
    authority: () => {
      if (ill) throw unusable();
      return genuine;
    },
  });
  await assert.rejects(stage.handle());
  ill = false;
  assert.equal((await stage.handle()).outcome, 'issued');
});

forEachKind('what the chain of the CA forbids is refused before it is signed', async (kind) => {
  const [extension, message] = kind.forbidding;
  const constrained = openConstrained(extension);
  let signatures = 0;
  const authority: Authority = {
    ...constrained,
    sign: (...args) => {
      signatures += 1;
      return constrained.sign(...args);
    },
  };
  const stage = kind.start({ authority: () => authority });
  for (let i = 0; i < 3; i += 1) {
    const error = { code: 'PATH_INVALID', disposition: 'authority', message };
    await assert.rejects(stage.handle(), error);
  }
  assert.equal(signatures, 0);
  assert.deepEqual(stage.requests, []);
});
