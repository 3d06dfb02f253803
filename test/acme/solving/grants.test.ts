// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayProveByHttp, parseHttp01Grant } from '#acme/solving/index.ts';
import type { Challenge } from '#api/acme/challenge.ts';

const grants = [parseHttp01Grant('team-a=a.example.com')];

function proves(
  kind: 'AcmeClusterSigner' | 'AcmeSigner',
  namespace: string,
  dnsName: string,
): boolean {
  const challenge = { metadata: { namespace }, spec: { signerRef: { kind, name: 'x' }, dnsName } };
  return mayProveByHttp(challenge as Challenge, grants);
}

test('an AcmeClusterSigner is the administrator’s: it proves every name', () => {
  assert.ok(proves('AcmeClusterSigner', 'team-b', 'anything.example.org'));
});

test('an AcmeSigner proves the names of the zones of its namespace, and no others', () => {
  assert.ok(proves('AcmeSigner', 'team-a', 'a.example.com'));
  assert.ok(proves('AcmeSigner', 'team-a', 'x.y.A.example.com'));
  assert.ok(!proves('AcmeSigner', 'team-a', 'example.com'));
  assert.ok(!proves('AcmeSigner', 'team-a', 'ba.example.com'));
  assert.ok(!proves('AcmeSigner', 'team-b', 'a.example.com'));
});

for (const text of [
  '',
  'team-a',
  'team-a=',
  '=a.example.com',
  'Team=a',
  'a=*.example.com',
  'a=b=c',
]) {
  test(`${JSON.stringify(text)} is no grant`, () => {
    assert.throws(() => parseHttp01Grant(text), { code: 'USAGE' });
  });
}
