// SPDX-License-Identifier: Apache-2.0
/** The client against Let's Encrypt's own test server, which refuses every fifth good nonce. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { openAccountKey } from '#acme/protocol/account-key.ts';
import {
  changeContact,
  createAccount,
  findAccount,
  rollOver,
  type Account,
} from '#acme/protocol/accounts.ts';
import { revokeCertificate } from '#acme/protocol/certificates.ts';
import { deactivateAuthorization, getAuthorization, newOrder } from '#acme/protocol/orders.ts';
import { getRenewalWindow, renewalId } from '#acme/protocol/renewal-info.ts';
import { openServer, type AcmeServer } from '#acme/protocol/server.ts';
import type { Identifier } from '#acme/protocol/resources.ts';
import { makeDirectory, removeDirectory } from '../cluster/directory.ts';
import { newKey, noAnswerOf, problemOf, valueOf } from './calls.ts';
import { obtain, type Subscriber } from './order-journey.ts';
import { startPebble, type Pebble } from './pebble.ts';

const MAC_KEY = Buffer.alloc(32, 7);
const TERMS = { contact: [], termsOfServiceAgreed: true };

let directory: string;
let pebble: Pebble;
let server: AcmeServer;
let account: Account;
let subscriber: Subscriber;
const calls = new Map<string, number>();

before(async () => {
  directory = makeDirectory();
  pebble = await startPebble(directory, {
    settings: { alternateRoots: 1, blocked: ['blocked.example'] },
  });
  server = open(pebble);
  account = valueOf(await createAccount(server, await newKey(), TERMS));
  subscriber = {
    server,
    account,
    directory,
    type: 'dns-01',
    present: (name, _token, value) => pebble.change('add-txt', `_acme-challenge.${name}.`, value),
  };
});
after(async () => {
  await server.close();
  await pebble.stop();
  removeDirectory(directory);
});

function open({ directory: url, ca }: Pebble): AcmeServer {
  return openServer({
    directory: url,
    ca,
    userAgent: 'countersign-test',
    clock: Date.now,
    onCall: (endpoint, outcome) => {
      const key = `${endpoint} ${outcome}`;
      calls.set(key, (calls.get(key) ?? 0) + 1);
    },
  });
}

const dns = (...names: string[]): readonly Identifier[] =>
  names.map((value) => ({ type: 'dns', value }));

test('the directory says what the server can do', async () => {
  const { meta, renewalInfo } = valueOf(await server.directory());
  assert.deepEqual(meta.profiles, ['default', 'shortlived']);
  assert.deepEqual(meta.caaIdentities, ['pebble.letsencrypt.org']);
  assert.equal(meta.externalAccountRequired, false);
  assert.ok(renewalInfo);
});

test('an account is made once for a key, and found again by it alone', async () => {
  const again = valueOf(await createAccount(server, account.key, TERMS));
  const found = valueOf(await findAccount(server, account.key));
  assert.deepEqual([again.account, found.account], [account.account, account.account]);
  const { type } = problemOf(await findAccount(server, await newKey()));
  assert.equal(type, 'accountDoesNotExist');
});

test('each kind of key that CAs take has its account', async () => {
  for (const type of ['RSA2048', 'ECDSAP384'])
    valueOf(await createAccount(server, await newKey(type), TERMS));
});

test('terms that are not agreed to are a problem that says so', async () => {
  const wanted = { contact: [], termsOfServiceAgreed: false };
  const { type, detail } = problemOf(await createAccount(server, await newKey(), wanted));
  assert.equal(type, 'userActionRequired', detail);
});

test('a roll-over to a key with an account of its own is rejected, changing nothing', async () => {
  const keys = { old: await newKey(), new: await newKey() };
  const urls: string[] = [];
  for (const key of [keys.old, keys.new])
    urls.push(valueOf(await createAccount(server, key, TERMS)).account);
  const { status, detail } = problemOf(await rollOver(server, keys));
  assert.equal(status, 409);
  assert.match(detail, /use another new key/);
  const after = [await findAccount(server, keys.old), await findAccount(server, keys.new)];
  assert.deepEqual(
    after.map((each) => valueOf(each).account),
    urls,
  );
});

test('contacts change', async () => {
  const changed = valueOf(await changeContact(server, account, ['mailto:ops@example.com']));
  assert.deepEqual(changed.contact, ['mailto:ops@example.com']);
  assert.equal(changed.account, account.account);
});

test('a roll-over ends at the new key from wherever an earlier one ended', async () => {
  const keys = { old: await newKey(), new: await newKey() };
  const before = valueOf(await createAccount(server, keys.old, TERMS));
  // Its answer is lost: it is called again with both keys.
  valueOf(await rollOver(server, keys));
  const after = valueOf(await rollOver(server, keys));
  assert.equal(after.account, before.account);
  assert.equal(after.key, keys.new);
  assert.equal(problemOf(await findAccount(server, keys.old)).type, 'accountDoesNotExist');
  // The account works with its new key.
  valueOf(await newOrder(server, after, { identifiers: dns('rolled.example') }));
});

test('a roll-over where the server knows neither key says so, and makes no account', async () => {
  const keys = { old: await newKey(), new: await newKey() };
  assert.equal(problemOf(await rollOver(server, keys)).type, 'accountDoesNotExist');
});

test('wildcard and base name come in one certificate, by two values at one name', async () => {
  const { chain } = await obtain(subscriber, {
    identifiers: dns('both.example', '*.both.example'),
  });
  const [leaf] = chain.certificates;
  assert.deepEqual([...leaf.sans.dnsNames].sort(), ['*.both.example', 'both.example']);
});

test('the preferred chain is chosen by its top’s common name, else the server’s first', async () => {
  const top = async (index: number): Promise<string> =>
    /CN=(.*)/.exec(new X509Certificate(await pebble.manage(`/roots/${index}`)).subject)?.[1] ?? '';
  const wanted = { identifiers: dns('chain.example') };
  const issuers: (string | undefined)[] = [];
  for (const name of [await top(0), await top(1), 'No such CA']) {
    const { chain } = await obtain(subscriber, wanted, name);
    const highest = chain.certificates.at(-1);
    issuers.push(highest?.issuer.attributes.find(({ oid }) => oid === '2.5.4.3')?.value);
  }
  assert.deepEqual(issuers, [await top(0), await top(1), await top(0)]);
});

test('an order of an address and of a profile is what was asked for', async () => {
  const short = { identifiers: dns('six-days.example'), profile: 'shortlived' };
  const { certificates } = (await obtain(subscriber, short)).chain;
  const days = (certificates[0].notAfter - certificates[0].notBefore) / 86_400_000;
  assert.ok(days > 5 && days < 7, String(days));
  const ip = { identifiers: [{ type: 'ip', value: '127.0.0.1' }] } as const;
  const order = valueOf(await newOrder(server, account, ip));
  const [url = ''] = order.authorizations;
  const { challenges } = valueOf(await getAuthorization(server, account, url));
  assert.ok(challenges.some(({ type }) => type === 'http-01'));
  const unknown = { identifiers: dns('x.example'), profile: 'no-such-profile' };
  const { type, detail } = problemOf(await newOrder(server, account, unknown));
  assert.equal(type, 'invalidProfile', detail);
});

test('an authorization that is given up is pending no more, and its order ends', async () => {
  const identifiers: Identifier[] = [{ type: 'dns', value: 'abandoned.example' }];
  const { authorizations } = valueOf(await newOrder(server, account, { identifiers }));
  const [url = ''] = authorizations;
  assert.equal(valueOf(await getAuthorization(server, account, url)).status, 'pending');
  assert.equal(valueOf(await deactivateAuthorization(server, account, url)).status, 'deactivated');
  // Asked twice, it is the same or refused: nothing else happens to it.
  const again = await deactivateAuthorization(server, account, url);
  assert.notEqual(again.kind, 'transport');
  assert.equal(valueOf(await getAuthorization(server, account, url)).status, 'deactivated');
});

test('a name that the CA refuses by policy is a rejectedIdentifier', async () => {
  const wanted = { identifiers: dns('fine.example', 'www.blocked.example') };
  const { type, detail } = problemOf(await newOrder(server, account, wanted));
  assert.equal(type, 'rejectedIdentifier', detail);
});

test('renewal information follows the server’s window; an order names its predecessor', async () => {
  const identifiers = dns('renewed.example');
  const [leaf] = (await obtain(subscriber, { identifiers })).chain.certificates;
  const id = renewalId(leaf) ?? '';
  const { start, end } = valueOf(await getRenewalWindow(server, id));
  assert.ok(leaf.notBefore < start && start < end && end < leaf.notAfter);
  const suggestedWindow = { start: '2020-01-01T00:00:00Z', end: '2020-01-02T00:00:00+01:00' };
  const certificate = new X509Certificate(Buffer.from(leaf.raw)).toString();
  const ariResponse = JSON.stringify({ suggestedWindow, explanationURL: 'https://ca.example/why' });
  await pebble.manage('/set-renewal-info/', JSON.stringify({ certificate, ariResponse }));
  assert.deepEqual(valueOf(await getRenewalWindow(server, id)), {
    start: Date.parse('2020-01-01T00:00:00Z'),
    end: Date.parse('2020-01-01T23:00:00Z'),
    explanationURL: 'https://ca.example/why',
  });
  await obtain(subscriber, { identifiers, replaces: id });
  const twice = await newOrder(server, account, { identifiers, replaces: id });
  assert.equal(problemOf(twice).type, 'alreadyReplaced');
});

test('a window that makes no sense is none', async () => {
  const [leaf] = (await obtain(subscriber, { identifiers: dns('odd.example') })).chain.certificates;
  const certificate = new X509Certificate(Buffer.from(leaf.raw)).toString();
  for (const suggestedWindow of [
    { start: '2020-01-02T00:00:00Z', end: '2020-01-01T00:00:00Z' },
    { start: 'soon', end: 'later' },
    {},
  ]) {
    const ariResponse = JSON.stringify({ suggestedWindow });
    await pebble.manage('/set-renewal-info/', JSON.stringify({ certificate, ariResponse }));
    const answer = await getRenewalWindow(server, renewalId(leaf) ?? '');
    assert.equal(noAnswerOf(answer).cause, 'unusable');
  }
});

test('an account or the certificate’s own key revokes it; a second time is a problem', async () => {
  const byAccount = await obtain(subscriber, { identifiers: dns('gone.example') });
  const leaf = byAccount.chain.certificates[0].raw;
  valueOf(await revokeCertificate(server, account, leaf, 4));
  const twice = await revokeCertificate(server, account, leaf, 4);
  assert.equal(problemOf(twice).type, 'alreadyRevoked');
  const byKey = await obtain(subscriber, { identifiers: dns('stolen.example') });
  const key = await openAccountKey(readFileSync(byKey.keyFile, 'utf8'));
  valueOf(await revokeCertificate(server, { key }, byKey.chain.certificates[0].raw, 1));
});

test('an external account is bound once; afterwards the key is enough', async () => {
  const other = await startPebble(directory, {
    settings: {
      externalAccountRequired: true,
      externalAccountKeys: { 'kid-1': MAC_KEY.toString('base64url') },
    },
  });
  const bound = open(other);
  try {
    assert.equal(valueOf(await bound.directory()).meta.externalAccountRequired, true);
    const key = await newKey();
    const without = problemOf(await createAccount(bound, key, TERMS));
    assert.equal(without.type, 'externalAccountRequired');
    const externalAccount = { keyId: 'kid-1', macKey: MAC_KEY };
    const made = valueOf(await createAccount(bound, key, { ...TERMS, externalAccount }));
    assert.equal(valueOf(await findAccount(bound, key)).account, made.account);
  } finally {
    await bound.close();
    await other.stop();
  }
});

test('refused nonces were seen, and no call of these was lost by one', () => {
  const refused = [...calls].filter(([key]) => key.endsWith(' 400'));
  assert.ok(refused.length > 0, JSON.stringify([...calls]));
});
