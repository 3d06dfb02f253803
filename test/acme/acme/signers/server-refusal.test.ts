// SPDX-License-Identifier: Apache-2.0
/** Which servers an AcmeSigner of a namespace may have called. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serverRefusal } from '#acme/acme/signers/server-refusal.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import { acmeObject } from '../../../api/acme/build.ts';

const SERVER = 'https://acme.example/dir';

const refusalOf = (listed: readonly string[], ...additionalOrigins: readonly string[]): string => {
  const { spec } = readAcmeSigner(acmeObject({ server: SERVER, additionalOrigins }));
  return serverRefusal(spec.acme, listed) ?? 'none';
};

test('an AcmeSigner may name a server that the administrator lists, and no other', () => {
  assert.equal(refusalOf([SERVER]), 'none');
  assert.match(refusalOf([]), /the server https:\/\/acme\.example\/dir: .*--namespaced-server/);
  assert.match(refusalOf(['https://acme.example/other']), /the server https:/);
});

test('a further origin of an AcmeSigner must be that of a listed server', () => {
  const CA = 'https://ca.example:8443';
  assert.match(
    refusalOf([SERVER], CA),
    /the origin https:\/\/ca\.example:8443 of spec\.acme\.additional/,
  );
  assert.match(refusalOf([SERVER, 'https://ca.example/dir'], CA), /the origin https:/);
  assert.equal(refusalOf([SERVER, `${CA}/dir`], CA), 'none');
  assert.equal(refusalOf([SERVER], 'https://acme.example:443'), 'none');
});
