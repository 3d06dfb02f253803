// SPDX-License-Identifier: Apache-2.0
/**
 * The life of an account with Let's Encrypt's own test server, by the steps of `authority` and
 * `acme`: the key made and rolled over, with a process that is killed at each boundary between two
 * calls or writes; contacts; the external account.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { makeDirectory, removeDirectory } from '../cluster/directory.ts';
import { Killed, SIGNER_NAME, World } from './account-world.ts';
import { problemOf, valueOf } from './calls.ts';
import { startPebble, type Pebble } from './pebble.ts';

const MAC_KEY = Buffer.alloc(32, 7).toString('base64url');

let directory: string;
let pebble: Pebble;

before(async () => {
  directory = makeDirectory();
  pebble = await startPebble(directory);
});
after(async () => {
  await pebble.stop();
  removeDirectory(directory);
});

/** From nothing to an account with its second key. */
async function lived(killAt: number): Promise<World> {
  const world = new World(pebble);
  world.killAt = killAt;
  await world.until(() => world.read.status.account?.url !== undefined);
  const { account } = world.read.status;
  const first = world.secret?.data?.['tls.key'] ?? '';
  assert.equal(valueOf(await world.find(first)).account, account?.url);
  world.requested();
  await world.until(() => {
    const { data = {} } = world.secret ?? {};
    return data['tls.key'] !== first && data['next.key'] === undefined;
  });
  const passed = [...world.passed];
  world.killAt = Infinity;
  assert.equal(await world.acme(), 'AccountReady');
  const now = world.read.status;
  const second = world.secret?.data?.['tls.key'] ?? '';
  assert.deepEqual(Object.keys(world.secret?.data ?? {}), ['tls.key']);
  assert.equal(valueOf(await world.find(second)).account, account?.url);
  assert.equal(problemOf(await world.find(first)).type, 'accountDoesNotExist');
  assert.equal(now.account?.url, account?.url);
  assert.notEqual(now.account?.keyThumbprint, account?.keyThumbprint);
  assert.equal(now.account?.nextKeyThumbprint, undefined);
  const rolled = now.conditions?.find(({ type }) => type === 'KeyRolledOver');
  assert.deepEqual([rolled?.status, rolled?.reason], ['True', 'KeyChanged']);
  world.passed = passed;
  return world;
}

test('killed at each boundary, the account gets its new key and none other is made', async () => {
  const calm = await lived(Infinity);
  assert.equal(calm.accountsMade, 1);
  assert.ok(calm.passed.includes('after keyChange'), calm.passed.join(', '));
  for (const [index, boundary] of calm.passed.entries()) {
    const { accountsMade, passed } = await lived(index);
    assert.equal(accountsMade, 1, boundary);
    assert.equal(passed[index], boundary);
  }
});

test('a wish that is answered is answered for good', async () => {
  const world = await lived(Infinity);
  const { secret } = world;
  await world.authority();
  await world.acme();
  assert.equal(world.secret, secret);
});

test('an interrupted roll-over that is withdrawn finds the account by its new key', async () => {
  const world = new World(pebble);
  await world.until(() => world.read.status.account?.url !== undefined);
  const { account } = world.read.status;
  world.requested();
  await world.authority();
  world.killAt = world.passed.length + (await callsUntil('after keyChange'));
  await assert.rejects(world.acme(), Killed);
  const { annotations: _, ...metadata } = world.signer.metadata;
  world.signer = { ...world.signer, metadata };
  await world.until(() => world.secret?.data?.['next.key'] === undefined);
  assert.equal(world.read.status.account?.url, account?.url);
  assert.equal(world.accountsMade, 1);
});

/** How many boundaries `acme` passes before this one, with both keys in the Secret. */
async function callsUntil(boundary: string): Promise<number> {
  const world = new World(pebble);
  await world.until(() => world.read.status.account?.url !== undefined);
  world.requested();
  await world.authority();
  const { length } = world.passed;
  await world.acme();
  return world.passed.slice(length).indexOf(boundary);
}

test('a status that was lost is made again from the key alone', async () => {
  const world = new World(pebble);
  await world.until(() => world.read.status.account?.url !== undefined);
  const { account } = world.read.status;
  world.signer = { ...world.signer, status: {} };
  assert.equal(await world.acme(), 'AccountReady');
  assert.deepEqual(world.read.status.account, account);
  assert.equal(world.accountsMade, 1);
});

test('contacts that change reach the account, the first and the last of them as well', async () => {
  const world = new World(pebble);
  await world.until(() => world.read.status.account?.url !== undefined);
  const key = world.secret?.data?.['tls.key'] ?? '';
  for (const contact of [['mailto:a@example.com'], ['mailto:b@example.com'], []]) {
    world.change({ contact });
    assert.equal(await world.acme(), 'AccountReady');
    assert.deepEqual(valueOf(await world.find(key)).contact, contact);
  }
});

test('an external account’s Secret may go after one use, even if the status is lost', async () => {
  const settings = { externalAccountRequired: true, externalAccountKeys: { 'kid-1': MAC_KEY } };
  const closed = await startPebble(directory, { settings });
  try {
    const externalAccountBinding = { keyID: 'kid-1', secret: { name: 'external' } };
    const world = new World(closed, { externalAccountBinding });
    await world.authority();
    assert.equal(await world.acme(), 'ExternalAccountInvalid');
    const { secret } = world;
    assert.ok(secret);
    const key = Buffer.from(MAC_KEY).toString('base64');
    world.secrets.set('external', { ...secret, data: { key } });
    assert.equal(await world.acme(), 'AccountReady');
    const { account } = world.read.status;
    assert.equal(account?.externalAccountBound, true);
    world.secrets.delete('external');
    assert.equal(await world.acme(), 'AccountReady');
    const { externalAccountBinding: _, ...rest } = (
      world.signer as unknown as { spec: { acme: Record<string, unknown> } }
    ).spec.acme;
    const withoutBinding = { spec: { signerName: SIGNER_NAME, acme: rest }, status: {} };
    world.signer = { ...world.signer, ...withoutBinding };
    assert.equal(await world.acme(), 'AccountReady');
    assert.equal(world.read.status.account?.url, account.url);
    assert.equal(world.accountsMade, 1);
  } finally {
    await closed.stop();
  }
});
