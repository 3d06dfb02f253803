// SPDX-License-Identifier: Apache-2.0
/** Options of an author, who may read them from an environment that lacks some. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineAuthority, type RunOptions } from '#library/index.ts';
import { componentOptions, limitsOf } from '#library/options.ts';

/** Authors without `exactOptionalPropertyTypes` may pass undefined for each field. */
function unset(...names: readonly (keyof RunOptions)[]): RunOptions {
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

test('an option that is undefined has its default', () => {
  const none = unset(
    'secretNamespace',
    'listen',
    'logFormat',
    'logLevel',
    'kubeconfig',
    'leaseNamespace',
    'reservedPrefixes',
  );
  const options = componentOptions(none);
  assert.deepEqual(options, componentOptions({}));
  assert.equal(options.secretNamespace, 'countersign-keys');
  assert.deepEqual(limitsOf(unset('callSeconds', 'maxRetrySeconds')), {
    callMs: 60_000,
    maxRetryMs: 600_000,
  });
});

test('a given option counts, and no limit becomes a flag', () => {
  const options = componentOptions({
    secretNamespace: 'keys',
    reservedPrefixes: ['corp:'],
    callSeconds: 5,
  });
  assert.equal(options.secretNamespace, 'keys');
  assert.deepEqual(options.reservedPrefix, ['corp:']);
  assert.ok(!('callSeconds' in options));
});

for (const [name, value] of [
  ['callSeconds', NaN],
  ['callSeconds', 0],
  ['callSeconds', -1],
  ['callSeconds', Infinity],
  ['maxRetrySeconds', NaN],
  ['maxRetrySeconds', -1],
] as const) {
  test(`run rejects ${name} ${value}, which would be no limit`, () => {
    assert.throws(() => limitsOf({ [name]: value }), {
      code: 'USAGE',
      message: RegExp(`^run: ${name} is ${value}; `),
    });
  });
}

test('maxRetrySeconds may be 0 for no retry, or Infinity for no end', () => {
  assert.equal(limitsOf({ maxRetrySeconds: 0 }).maxRetryMs, 0);
  assert.equal(limitsOf({ maxRetrySeconds: Infinity }).maxRetryMs, Infinity);
});

test('a field of a definition that is undefined has its default', () => {
  const definition = {
    name: 'test-ca',
    issuer: { group: 'example.com', version: 'v1', kind: 'TestIssuer', plural: 'testissuers' },
    schema: { parse: (value: unknown) => value },
    check: () => Promise.resolve(),
    sign: () => Promise.reject(new Error('not called')),
  };
  const unsetFields = { secrets: undefined, issuerSpec: undefined, requests: undefined };
  const given = Object.assign({}, definition, unsetFields, {
    issuer: Object.assign({ namespaced: undefined }, definition.issuer),
  }) as unknown as typeof definition;
  const [authority, usual] = [defineAuthority(given), defineAuthority(definition)];
  assert.deepEqual(authority.secrets(undefined), []);
  assert.equal(authority.issuerSpec('spec'), 'spec');
  assert.deepEqual(authority.requests, usual.requests);
  assert.deepEqual(authority.issuer, usual.issuer);
});
