// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToBePresented, readChallengeObject } from '#api/acme/challenge.ts';
import { SignerError } from '#base/errors.ts';

const metadata = {
  name: 'c',
  namespace: 'a',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2026-11-22T10:00:00Z',
};
const spec = {
  signerRef: { kind: 'AcmeSigner', name: 'web' },
  orderRef: { name: 'o', uid: 'ou' },
  authorizationURL: 'https://acme.example/authz/1',
  url: 'https://acme.example/chall/1',
  type: 'http-01',
  token: 'tok',
  key: 'tok.thumb',
  dnsName: 'example.com',
  solver: 'web',
};
const challenge = (status?: object, more: object = {}) =>
  readChallengeObject({
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: 'Challenge',
    metadata: { ...metadata, ...more },
    spec,
    status,
  });

test('presents a Challenge only with a slot, read as pending, and not deleted', () => {
  assert.equal(isToBePresented(challenge()), false);
  assert.equal(isToBePresented(challenge({ processing: true })), false);
  assert.equal(isToBePresented(challenge({ processing: true, state: 'pending' })), true);
  assert.equal(isToBePresented(challenge({ processing: false, state: 'valid' })), false);
  const deletionTimestamp = '2026-11-22T10:00:00Z';
  assert.equal(
    isToBePresented(challenge({ processing: true, state: 'pending' }, { deletionTimestamp })),
    false,
  );
});

test('a token that is no base64url is not read: it would become a path', () => {
  assert.throws(
    () =>
      readChallengeObject({
        metadata,
        kind: 'Challenge',
        spec: { ...spec, token: '../x' },
      } as never),
    SignerError,
  );
});
