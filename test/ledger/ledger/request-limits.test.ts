// SPDX-License-Identifier: Apache-2.0
/** The limits of the API: what one caller, and all of them, hold of the ledger at a time. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ApiAnswer } from '#ledger/ledger/api/answer.ts';
import { createLedgerApi } from '#ledger/ledger/api/index.ts';
import { RequestLimits } from '#ledger/ledger/api/request-limits.ts';
import { openSqlite, openStore, type LedgerStore } from '#ledger/index.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { issuedBatch, naming, NOW } from '../../support/ledger/records.ts';

const RAW = '/apis/ledger.countersign.dev/v1alpha1';
const MIB = 1024 * 1024;
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

/** An API that admits each component, by a token that is its name. */
function sending(find: LedgerStore['find'] = (query) => store.find(query)): Send {
  const component = recordedComponent({ clock: () => NOW });
  component.client.answer(() => ({ status: { allowed: true } }));
  const api = createLedgerApi({
    component,
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
      headers: { authorization: [`Bearer ${caller}`] },
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

test('128 long requests of all callers are in flight at a time', async () => {
  const limits = new RequestLimits();
  const gate = Promise.withResolvers<undefined>();
  const send = async (caller: string): Promise<number> =>
    (await limits.answer(caller, gate.promise, () => Promise.resolve({ status: 200, body: '' })))
      .status;
  for (let n = 0; n < 128; n += 1) assert.equal(await send(`user-${n}`), 200);
  assert.equal(await send('another'), 429);
  gate.resolve(undefined);
  await settled();
  assert.equal(await send('another'), 200);
});

test('unread answers take 16 MiB of each caller, and 64 MiB of all', async () => {
  const limits = new RequestLimits();
  const page = new Uint8Array(8 * MIB);
  const gate = Promise.withResolvers<undefined>();
  const send = async (caller: string, body = page): Promise<number> =>
    (await limits.answer(caller, gate.promise, () => Promise.resolve({ status: 200, body })))
      .status;
  for (const caller of ['a', 'b', 'c', 'd'])
    assert.deepEqual([await send(caller), await send(caller), await send(caller)], [200, 200, 429]);
  assert.equal(await send('e'), 429);
  gate.resolve(undefined);
  await settled();
  assert.equal(await send('e', new Uint8Array(20 * MIB)), 200);
});
