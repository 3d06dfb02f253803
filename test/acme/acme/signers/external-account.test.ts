// SPDX-License-Identifier: Apache-2.0
/** The MAC key of an external account, as people store it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { credentialsOf } from '#acme/acme/signers/account-key.ts';
import { openSession } from '#acme/acme/signers/open-session.ts';
import type { AcmeServer } from '#acme/protocol/server.ts';
import { SIGNER_NAME as GRANT } from '#api/signer/grant.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import type { Secret } from '#api/object/object.ts';
import { privateKey } from '../../../support/pki/keys.ts';
import { acmeObject } from '../../../api/acme/build.ts';

const SIGNER_NAME = 'example.com/public';
const KEY = Buffer.from(Array.from({ length: 32 }, (_none, index) => 0xf8 + (index % 8)));
const pem = privateKey('P-256', 'account').export({ type: 'pkcs8', format: 'pem' }).toString();

function secret(name: string, data: Readonly<Record<string, string>>): Secret {
  const annotations = { [GRANT]: SIGNER_NAME };
  const encoded = Object.entries(data).map(
    ([key, value]) => [key, Buffer.from(value).toString('base64')] as const,
  );
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'keys', annotations, uid: name, resourceVersion: '1' },
    data: Object.fromEntries<string>(encoded),
  } as unknown as Secret;
}

function signer(status: object = {}) {
  const externalAccountBinding = { keyID: 'kid-7', secret: { name: 'external' } };
  return readAcmeSigner({ ...acmeObject({ externalAccountBinding }, SIGNER_NAME), status });
}

function credentials(key: string, status: object = {}): ReturnType<typeof credentialsOf> {
  const get = ({ name }: { readonly name: string }) => ({
    secret: name === 'external' ? secret(name, { key }) : secret(name, { 'tls.key': pem }),
  });
  return credentialsOf(signer(status), { get }, 'keys', 0);
}

for (const [what, text] of [
  ['base64url', KEY.toString('base64url')],
  ['base64', KEY.toString('base64')],
  ['base64url with padding', `${KEY.toString('base64url')}=`],
  ['base64url with a line break', `${KEY.toString('base64url')}\n`],
] as const) {
  test(`a MAC key in ${what} gives its own octets`, async () => {
    const found = await credentials(text);
    assert.ok(found !== undefined && 'external' in found, JSON.stringify(found));
    assert.deepEqual(found.external?.macKey, KEY);
  });
}

const WRONG: readonly [what: string, text: string, fault: string][] = [
  ['blank', ' \n', 'its key is blank'],
  [
    'hexadecimal',
    KEY.toString('hex'),
    'its key is hexadecimal, and not base64url text (RFC 8555 §7.3.4)',
  ],
  ['raw octets', KEY.toString('latin1'), 'its key is not base64url text (RFC 8555 §7.3.4)'],
  [
    'in two alphabets',
    `${KEY.toString('base64url')}+/-_`,
    'its key is not base64url text (RFC 8555 §7.3.4)',
  ],
  [
    'quoted',
    JSON.stringify(KEY.toString('base64url')),
    'its key is not base64url text (RFC 8555 §7.3.4)',
  ],
  [
    'cut within an octet',
    `${KEY.toString('base64url')}xx`,
    'its key is not base64url text (RFC 8555 §7.3.4)',
  ],
  [
    'short',
    KEY.subarray(0, 31).toString('base64url'),
    'its key has 31 octets, and HS256 needs 32 (RFC 7518 §3.2)',
  ],
];

for (const [what, text, fault] of WRONG) {
  test(`a MAC key that is ${what} is refused by the name of its key, before a call`, async () => {
    const found = await credentials(text);
    assert.deepEqual(found, {
      reason: 'ExternalAccountInvalid',
      message: `Secret keys/external: ${fault}; put the MAC key that the CA gave you there as key`,
    });
    // The account exists: the external account was for its creation.
    const bound = await credentials(text, { account: { externalAccountBound: true } });
    assert.ok(bound !== undefined && 'external' in bound && bound.external === undefined);
  });
}

test('a refusal of the account names the Secret and the keyID, and no octet of the key', async () => {
  const text = KEY.toString('base64url');
  const found = await credentials(text);
  assert.ok(found !== undefined && 'external' in found);
  const meta = { externalAccountRequired: false, profiles: [], caaIdentities: [] };
  const missing = { kind: 'problem', status: 400, type: 'accountDoesNotExist', detail: '' };
  const refused = { kind: 'problem', status: 401, type: 'unauthorized', detail: '"no"' };
  let calls = 0;
  const server = {
    resources: { account: {}, url: {} },
    directory: () => Promise.resolve({ kind: 'ok', value: { meta, newAccount: 'https://ca/new' } }),
    post: () => Promise.resolve({ subproblems: [], ...((calls += 1) === 1 ? missing : refused) }),
  } as unknown as AcmeServer;
  const opened = await openSession(server, signer(), found);
  assert.ok('reason' in opened);
  assert.equal(opened.reason, 'AccountRefused');
  assert.equal(
    opened.message,
    'the ACME server refused: 401 unauthorized "no"; if it refuses the external account, correct spec.acme.externalAccountBinding.keyID ("kid-7") or the MAC key in Secret keys/external',
  );
});
