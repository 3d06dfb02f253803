// SPDX-License-Identifier: Apache-2.0
/** The limits of the API: what one caller, and all of them, hold of the ledger at a time. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ApiAnswer } from '#ledger/ledger/api/answer.ts';
import { frontProxyOf } from '#ledger/ledger/api/front-proxy.ts';
import { createLedgerApi } from '#ledger/ledger/api/index.ts';
import { RequestLimits, type CallerAccount } from '#ledger/ledger/api/request-limits.ts';
import { openSqlite, openStore, type LedgerStore } from '#ledger/index.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { issuedBatch, naming, NOW } from '../../support/ledger/records.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

const RAW = '/apis/ledger.countersign.dev/v1alpha1';
const MIB = 1024 * 1024;
const PROXY = 'front-proxy-client';
const { cert } = await tlsCertificate(PROXY);
const front = frontProxyOf({
  'requestheader-client-ca-file': cert,
  'requestheader-username-headers': '["X-Remote-User"]',
});
const certificate = { commonName: PROXY, raw: new X509Certificate(cert).raw };
const root = mkdtempSync(join(tmpdir(), 'ledger-limits-'));
let store: LedgerStore;
before(async () => {
  store = await openStore(openSqlite(join(root, 'ledger.db')));
  await store.append(issuedBatch(0, 3), { naming, now: NOW });
});
after(async () => {
  await store.close();
  rmSync(root, { recursive: true, force: true });
});

type Send = (caller: string, path: string, closed?: Promise<void>) => Promise<ApiAnswer>;

/**
 * An API that admits each component by a token that is its name, and each user `user:<name>` that
 * the API server names.
 */
function sending(find: LedgerStore['find'] = (query) => store.find(query)): Send {
  const component = recordedComponent({ clock: () => Date.now() });
  component.client.answer(() => ({ status: { allowed: true } }));
  const api = createLedgerApi({
    component,
    front: { current: () => front },
    store: { ...store, find },
    authenticate: (name) =>
      Promise.resolve({
        username: `system:serviceaccount:countersign-system:countersign-${name}`,
        groups: [],
        extra: {},
      }),
    namespace: 'countersign-system',
    naming: () => naming,
  });
  return (caller, path, closed) =>
    api({
      method: 'GET',
      url: `${RAW}${path}`,
      ...(caller.startsWith('user:')
        ? { headers: { 'x-remote-user': [caller.slice('user:'.length)] }, certificate }
        : { headers: { authorization: [`Bearer ${caller}`] } }),
      ...(closed === undefined ? {} : { closed }),
    });
}

/** Lets everything continue that waits for no search. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('two searches run at a time, and callers take turns', async () => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const send = sending(async ({ terms }) => {
    begun.push(terms[0]?.value ?? '');
    await new Promise<void>((resolve) => ends.push(resolve));
    return { records: [] };
  });
  const search = (caller: string): Promise<ApiAnswer> =>
    send(caller, `/records?fieldSelector=user%3D${caller}`);
  const answers = Array.from({ length: 10 }, () => search('a'));
  await settled();
  answers.push(search('b'));
  await settled();
  assert.deepEqual(begun, ['a', 'a']);
  while (ends.length > 0) {
    ends.shift()?.();
    await settled();
  }
  assert.equal(begun.indexOf('b'), 3);
  assert.deepEqual([...new Set((await Promise.all(answers)).map(({ status }) => status))], [200]);
});

test('a failed search passes its turn on', async () => {
  const send = sending(() => Promise.reject(new Error('away')));
  for (let turn = 0; turn < 5; turn += 1) assert.equal((await send('a', '/records')).status, 503);
});

test('a caller has 16 long requests at a time, until it has read the answers', async () => {
  const send = sending();
  const gates = Array.from({ length: 16 }, () => Promise.withResolvers<undefined>());
  for (const { promise } of gates) assert.equal((await send('a', '/records', promise)).status, 200);
  for (const path of ['/records', '/records/1-0', '/logs/1/checkpoints']) {
    const refused = await send('a', path);
    assert.equal(refused.status, 429, path);
    assert.equal(refused.retryAfterSeconds, 1);
    assert.match(String(refused.body), /"reason":"TooManyRequests".*"retryAfterSeconds":1/);
  }
  assert.equal((await send('a', '/logs')).status, 200);
  assert.equal((await send('b', '/records')).status, 200);
  gates[0]?.resolve(undefined);
  await settled();
  assert.equal((await send('a', '/records')).status, 200);
});

const account = (namespace: string, name: string): string =>
  `user:system:serviceaccount:${namespace}:${name}`;

test('the ServiceAccounts of a namespace have the limits of one caller', async () => {
  const send = sending();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  for (let n = 0; n < 16; n += 1) {
    assert.equal((await send(account('team-a', `n${n}`), '/records', promise)).status, 200);
    assert.equal((await send('user:jane', '/records', promise)).status, 200);
    assert.equal((await send(account('countersign-system', 'x'), '/records', promise)).status, 200);
  }
  const refused = await send(account('team-a', 'another'), '/records');
  assert.equal(refused.status, 429);
  assert.match(String(refused.body), /system:serviceaccount:team-a:\*/);
  for (const caller of [
    account('team-b', 'n0'),
    account('countersign-system', 'y'),
    'user:john',
    'user:system:serviceaccount',
  ])
    assert.equal((await send(caller, '/records')).status, 200, caller);
  resolve(undefined);
});

test('the ServiceAccounts of a namespace have the turns of one caller', async () => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const send = sending(async ({ terms }) => {
    begun.push(terms[0]?.value ?? '');
    await new Promise<void>((resolve) => ends.push(resolve));
    return { records: [] };
  });
  const answers = Array.from({ length: 10 }, (_, n) =>
    send(account('team-a', `n${n}`), '/records?fieldSelector=user%3Da'),
  );
  await settled();
  answers.push(send('user:jane', '/records?fieldSelector=user%3Djane'));
  await settled();
  while (ends.length > 0) {
    ends.shift()?.();
    await settled();
  }
  assert.equal(begun.indexOf('jane'), 3);
  assert.equal((await Promise.all(answers)).length, 11);
});

test('users who hold all requests keep no component from reading', async () => {
  const send = sending();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  for (let n = 0; n < 128; n += 1)
    assert.equal((await send(`user:${n}`, '/records', promise)).status, 200);
  assert.equal((await send('user:another', '/records')).status, 429);
  for (let n = 0; n < 16; n += 1)
    assert.equal((await send('pcr-issuer', '/records', promise)).status, 200);
  assert.equal((await send('pcr-issuer', '/records')).status, 429);
  assert.equal((await send('pod-refresher', '/records')).status, 200);
  resolve(undefined);
});

test('users have 128 long requests at a time, and components as many', async () => {
  const limits = new RequestLimits();
  const gate = Promise.withResolvers<undefined>();
  const send = async (caller: string, kind: CallerAccount['kind'] = 'user'): Promise<number> =>
    (
      await limits.answer({ name: caller, kind }, gate.promise, () =>
        Promise.resolve({ status: 200, body: '' }),
      )
    ).status;
  for (let n = 0; n < 128; n += 1) assert.equal(await send(`user-${n}`), 200);
  assert.equal(await send('another'), 429);
  for (let n = 0; n < 128; n += 1) assert.equal(await send(`part-${n}`, 'component'), 200);
  assert.equal(await send('another', 'component'), 429);
  gate.resolve(undefined);
  await settled();
  assert.equal(await send('another'), 200);
});

test('unread answers take 16 MiB of a caller, 64 of users, and 64 of components', async () => {
  const limits = new RequestLimits();
  const page = new Uint8Array(8 * MIB);
  const gate = Promise.withResolvers<undefined>();
  const send = async (
    caller: string,
    body = page,
    kind: CallerAccount['kind'] = 'user',
  ): Promise<number> =>
    (
      await limits.answer({ name: caller, kind }, gate.promise, () =>
        Promise.resolve({ status: 200, body }),
      )
    ).status;
  for (const caller of ['a', 'b', 'c', 'd'])
    assert.deepEqual([await send(caller), await send(caller), await send(caller)], [200, 200, 429]);
  assert.equal(await send('e'), 429);
  for (const caller of ['f', 'g', 'h', 'i'])
    for (let n = 0; n < 2; n += 1) assert.equal(await send(caller, page, 'component'), 200);
  assert.equal(await send('j', page, 'component'), 429);
  gate.resolve(undefined);
  await settled();
  assert.equal(await send('e', new Uint8Array(20 * MIB)), 200);
});
