// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestFacts } from '#console/acting/request-facts.ts';
import { encodePem } from '#pki/der/pem.ts';
import { basicConstraints, keyUsage } from '#pki/extensions/encode-extensions.ts';
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

/** subjectAltName with the otherName of a Windows logon, a UPN of alice (RFC 5280 §4.2.1.6). */
const OTHER_NAME = Buffer.from('301aa018060a2b060104018237140203a00a0c08616c696365406164', 'hex');
const SUBJECT_ALT_NAME = '2.5.29.17';
/** id-pe-tlsfeature of RFC 7633 §4: must-staple. */
const TLS_FEATURE = '1.3.6.1.5.5.7.1.24';

async function factsOf(spec: object): Promise<string> {
  const { key } = await generatePrivateKey('ECDSAP256');
  const sans = { dnsNames: [], ipAddresses: [], uris: [], emails: [] };
  const subject = { commonName: 'alice', organizations: [], organizationalUnits: [] };
  const extensions = [
    basicConstraints({ ca: true }),
    keyUsage(['keyCertSign']),
    { oid: SUBJECT_ALT_NAME, critical: false, value: OTHER_NAME },
    { oid: TLS_FEATURE, critical: true, value: Buffer.from('3003020105', 'hex') },
  ];
  const pem = encodePem('CERTIFICATE REQUEST', encodeRequest({ subject, sans, key, extensions }));
  return requestFacts({ spec: { request: Buffer.from(pem).toString('base64'), ...spec } }).join(
    '\n',
  );
}

test('the facts name everything else that a request can ask for', async () => {
  const issuerRef = { name: 'corp', group: 'awspca.cert-manager.io' };
  const text = await factsOf({ issuerRef, isCA: false, duration: '87600h', uid: 'u-1' });
  for (const each of [
    /^signer: Issuer corp of awspca\.cert-manager\.io$/m,
    /^requested life: 87600h$/m,
    /^CA: yes/m,
    /^usages in the PKCS#10 request: keyCertSign$/m,
    /^requested names of other kinds: 1, .*616c696365406164/m,
    /^requested extension: 1\.3\.6\.1\.5\.5\.7\.1\.24, critical, in DER: 3003020105$/m,
    /^UID of the requester: u-1$/m,
  ])
    assert.match(text, each);
});

test('isCA is a fact, also beside a request that cannot be read', () => {
  const issuerRef = { name: 'corp' };
  const text = requestFacts({ spec: { request: '', issuerRef, isCA: true } }).join('\n');
  assert.match(text, /^CA: yes/m);
  assert.match(text, /^signer: Issuer corp of cert-manager\.io$/m);
});

test('the requested seconds and the extra fields of a requester are facts', async () => {
  const extra = { 'example.com/device': ['laptop-7'] };
  const text = await factsOf({ signerName: 'example.com/x', expirationSeconds: 86_400, extra });
  assert.match(text, /^requested life: 86400 s$/m);
  assert.match(text, /^example\.com\/device of the requester: laptop-7$/m);
});
