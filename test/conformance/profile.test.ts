// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_PROFILE, readProfile } from '#conformance/profile.ts';

test('an empty profile file gives the default profile', () => {
  assert.deepEqual(readProfile(null), DEFAULT_PROFILE);
  assert.deepEqual(readProfile({}), DEFAULT_PROFILE);
});

test('ordinary requests have the first key type that the profile lists', () => {
  assert.equal(readProfile({ keyTypes: ['ED25519', 'ECDSAP256'] }).keyType, 'ED25519');
  assert.equal(readProfile({ keyTypes: ['ED25519'], keyType: 'RSA3072' }).keyType, 'RSA3072');
});

test('durations of a profile are Go durations and become seconds', () => {
  assert.equal(readProfile({ maxDuration: '12h' }).maxDuration, 43_200);
});

const wrong: [what: string, value: unknown, says: RegExp][] = [
  ['an unknown field', { maxDurations: '1h' }, /maxDurations is not one of keyType/],
  ['a key type that is none', { keyTypes: ['DSA'] }, /keyTypes\[0\] must be one of RSA2048/],
  ['a duration in days', { maxDuration: '1d' }, /maxDuration must be a duration/],
  ['a list', [], /is not a mapping/],
  ['annotations that are no texts', { annotations: { a: 1 } }, /annotations\.a must be a text/],
];

for (const [what, value, says] of wrong) {
  test(`a profile with ${what} is refused, and the error names the field`, () => {
    assert.throws(() => readProfile(value), says);
  });
}
