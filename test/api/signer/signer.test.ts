// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkSignerName } from '#api/signer/signer-name.ts';
import { derivedFrom, derivedName, isDerivedName } from '#api/signer/signer.ts';

/** A DNS label: what a namespace is called, and what a name is made of. */
const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);
const objectName = fc
  .array(label, { minLength: 1, maxLength: 4 })
  .map((labels) => labels.join('.'));

test('a derived name is a valid signer name and identifies exactly one Signer', () => {
  fc.assert(
    fc.property(label, objectName, (namespace, name) => {
      const signerName = derivedName({ namespace, name });
      assert.equal(checkSignerName(signerName).domain, 'signers.countersign.dev');
      assert.ok(isDerivedName(signerName));
      assert.equal(derivedFrom(signerName), `${namespace}/${name}`);
    }),
  );
});

test('dots in names are unambiguous: no two Signers share a signer name', () => {
  fc.assert(
    fc.property(label, objectName, label, objectName, (namespace, name, other, otherName) => {
      const same = namespace === other && name === otherName;
      const names = [
        derivedName({ namespace, name }),
        derivedName({ namespace: other, name: otherName }),
      ];
      assert.equal(names[0] === names[1], same);
    }),
  );
});

test('the longest names that Kubernetes allows give a valid signer name', () => {
  const name = ['a'.repeat(63), 'b'.repeat(63), 'c'.repeat(63), 'd'.repeat(61)].join('.');
  assert.equal(name.length, 253);
  checkSignerName(derivedName({ namespace: 'n'.repeat(63), name }));
});

for (const signerName of [
  'example.com/team-a.web',
  'signers.countersign.dev.example.com/team-a.web',
  'x.signers.countersign.dev/team-a.web',
  'signers.countersign.dev/team-a',
]) {
  test(`${signerName} is the derived name of no Signer`, () => {
    assert.equal(derivedFrom(signerName), undefined);
  });
}
