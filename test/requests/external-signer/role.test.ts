// SPDX-License-Identifier: Apache-2.0
/** A role of Vault is judged before it issues: no refused certificate is paid for what it shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readExternalSigner } from '#api/external/external-signer.ts';
import { judgeRole, ttlOf } from '#requests/external-signer/vault/role.ts';
import { signBody } from '#requests/external-signer/vault/sign-body.ts';
import { ROLE, signerObject } from './world.ts';

const { status: _status, ...object } = signerObject();
const signer = readExternalSigner(object);
const judged = (change: object): object => judgeRole({ ...ROLE, ...change }, signer);
const LIMITS = {
  backdateSeconds: 30,
  maxSeconds: 86_400,
  issuer: 'default',
  usages: ['digital signature', 'server auth', 'client auth'] as const,
};

test('a role as the how-to makes it fits, with its backdate, life and usages', () => {
  assert.deepEqual(judged({}), LIMITS);
  assert.deepEqual(judged({ max_ttl: 0 }), { ...LIMITS, maxSeconds: undefined });
});

const wrong: [what: string, change: object, says: RegExp][] = [
  ['names of the request', { use_csr_sans: true }, /use_csr_sans must be false/],
  ['the common name of the request', { use_csr_common_name: true }, /use_csr_common_name must be/],
  ['a common name in each certificate', { require_cn: true }, /require_cn must be false/],
  ['a field that is missing', { use_csr_sans: undefined }, /use_csr_sans must be false/],
  ['an organization', { organization: ['system:masters'] }, /organization must be empty/],
  ['an organizational unit', { ou: ['ops'] }, /ou must be empty/],
  [
    'serial numbers of the request',
    { allowed_serial_numbers: ['*'] },
    /allowed_serial_numbers must/,
  ],
  ['a fixed end', { not_after: '2030-01-01T00:00:00Z' }, /not_after must be empty/],
  ['a usage that the profile lacks', { key_usage: ['KeyEncipherment'] }, /key encipherment/],
  ['the right to sign certificates', { key_usage: ['CertSign'] }, /adds "cert sign"/],
  ['a usage that nobody knows', { key_usage: ['Telepathy'] }, /adds "Telepathy"/],
  ['a purpose that the profile lacks', { code_signing_flag: true }, /adds "code signing"/],
  ['every purpose', { ext_key_usage: ['Any'] }, /adds "any"/],
  [
    'a purpose by its number',
    { ext_key_usage_oids: ['1.2.3'] },
    /ext_key_usage_oids must be empty/,
  ],
  ['a start before the time that the API takes', { not_before_duration: 241 }, /241 s.* 240 s/],
  ['a life that is too short for pods', { max_ttl: 3_569 }, /3569 s.* at least 3570 s/],
  ['a time that is none', { max_ttl: '24h' }, /values that Vault does not give/],
  [
    'an issuer that leaves its path',
    { issuer_ref: '../../sys' },
    /values that Vault does not give/,
  ],
];

for (const [what, change, says] of wrong) {
  test(`refuses a role with ${what}`, () => {
    const found = judged(change);
    assert.ok('fault' in found, JSON.stringify(found));
    assert.match(String(found.fault), says);
  });
}

test('the life that is requested leaves room for the backdate, within that of the role', () => {
  assert.equal(ttlOf(3_600, LIMITS), 3_570);
  assert.equal(ttlOf(2 * 86_400, LIMITS), 86_400);
});

const subject = {
  commonName: 'jane',
  organizations: [],
  organizationalUnits: [],
  dnsNames: ['a.example'],
  ipAddresses: ['10.0.0.1'],
  uris: ['spiffe://example.com/a,b'],
  emails: ['a@example.com'],
};
const wanted = {
  subject,
  usages: LIMITS.usages,
  validity: { notBefore: 0, notAfter: 3_600_000 },
};
const bodyOf = (change: object, csr: string | undefined = 'csr'): object =>
  signBody({ ...wanted, subject: { ...subject, ...change } }, csr, LIMITS);

test('a call has exactly the names that were decided, and each URI is one item', () => {
  assert.deepEqual(bodyOf({}), {
    csr: 'csr',
    common_name: 'jane',
    exclude_cn_from_sans: true,
    alt_names: 'a.example,a@example.com',
    ip_sans: ['10.0.0.1'],
    uri_sans: ['spiffe://example.com/a,b'],
    ttl: '3570s',
    format: 'pem',
  });
});

test('what a call of Vault cannot say is never called', () => {
  const faults: [object, RegExp][] = [
    [bodyOf({ organizations: ['x'] }), /organizations from its role/],
    [bodyOf({ dnsNames: Array(250).fill(`${'a'.repeat(60)}.${'b'.repeat(60)}`) }), /31\d{3} bytes/],
    [bodyOf({ uris: ['https://a.example/#'] }), /ends with an empty fragment/],
    [bodyOf({ emails: ['"a,b"@example.com'] }), /has a comma/],
    [signBody({ ...wanted, usages: ['digital signature'] }, 'csr', LIMITS), /"server auth"/],
    [signBody(wanted, undefined, LIMITS), /upgrade the node/],
    [
      signBody({ ...wanted, validity: { notBefore: 0, notAfter: 30_000 } }, 'csr', LIMITS),
      /expire before it starts/,
    ],
  ];
  for (const [found, says] of faults) {
    assert.ok('fault' in found, JSON.stringify(found));
    assert.match(String(found.fault), says);
  }
});
