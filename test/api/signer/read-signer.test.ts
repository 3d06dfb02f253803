// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSigner } from '#api/signer/read-signer.ts';
import { SignerError } from '#base/errors.ts';
import { changed } from '../../support/signers/cluster-signer.ts';
import { namespacedSigner, teamSpec } from '../../support/signers/namespaced-signer.ts';

test('a Signer has a derived name, a Secret in its own namespace, and no trust bundle', () => {
  const { kind, metadata, spec } = readSigner(namespacedSigner());
  assert.deepEqual([kind, metadata.namespace], ['Signer', 'team-a']);
  assert.equal(spec.signerName, 'signers.countersign.dev/team-a.web');
  assert.deepEqual(spec.authority, { secret: { namespace: 'team-a', name: 'team-ca' } });
  assert.equal(spec.trustBundle, undefined);
});

/** What is put where, the field that the message must name, and what it must say. */
const refused: [law: string, path: string, value: unknown, field: string, says: RegExp][] = [
  ['a chosen name', 'signerName', 'example.com/web', 'spec:', /Unrecognized key: "signerName"/],
  ['a bundle', 'trustBundle', { name: 'primary' }, 'spec:', /Unrecognized key: "trustBundle"/],
  ['a managed CA', 'authority.managed', {}, 'spec.authority', /Unrecognized key: "managed"/],
  [
    'another namespace’s Secret',
    'authority.secret.namespace',
    'team-b',
    'spec.authority.secret',
    /Unrecognized key: "namespace"/,
  ],
  [
    'a path instead of a name',
    'authority.secret.name',
    '../team-b/ca',
    'spec.authority.secret.name',
    /kubectl explain signer\.spec\.authority\.secret\.name/,
  ],
  ['a CA’s usages', 'profile.usages', ['cert sign'], 'spec.profile.usages[0]', /client auth/],
  ['a leaf of a year', 'profile.maxDuration', '8760h', 'spec.profile.maxDuration', /2184h/],
];

for (const [law, path, value, field, says] of refused) {
  test(`refused: ${law}`, () => {
    const object = namespacedSigner(changed(teamSpec(), path, value));
    assert.throws(
      () => readSigner(object),
      (error) => {
        assert.ok(error instanceof SignerError);
        assert.equal(error.code, 'SPEC_INVALID');
        assert.match(error.message, /^Signer "web": /);
        assert.ok(error.message.includes(field), error.message);
        assert.match(error.message, says);
        return true;
      },
    );
  });
}
