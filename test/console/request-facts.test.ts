// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestFacts } from '#console/acting/request-facts.ts';
import { encodePem } from '#pki/der/pem.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';

test('the facts name requester, groups, subject, names and usages', async () => {
  const { key } = await generatePrivateKey('ECDSAP256');
  const sans = { dnsNames: ['a.example'], ipAddresses: ['192.0.2.1'], uris: [], emails: [] };
  const subject = { commonName: 'alice', organizations: ['dev'], organizationalUnits: [] };
  const pem = encodePem('CERTIFICATE REQUEST', encodeRequest({ subject, sans, key }));
  const text = requestFacts({
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'example.com/people',
      username: 'bob',
      groups: ['system:masters'],
      usages: ['client auth'],
    },
  }).join('\n');
  for (const each of ['example.com/people', 'bob', 'system:masters', 'client auth', 'a.example'])
    assert.ok(text.includes(each), each);
  assert.match(text, /requested subject: .*alice/);
  assert.match(text, /192\.0\.2\.1/);
});

test('a request that cannot be read is named as such', () => {
  const issuerRef = { kind: 'ClusterIssuer', name: 'corp' };
  const text = requestFacts({ spec: { request: 'bm9uZQ==', issuerRef } }).join('\n');
  assert.match(text, /signer: ClusterIssuer corp/);
  assert.match(text, /requested names: unreadable/);
});
