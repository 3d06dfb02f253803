// SPDX-License-Identifier: Apache-2.0
/** The laws of the store on a real PostgreSQL, and what a crash of the server leaves. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import { openPostgres } from '#ledger/database/postgres.ts';
import { openStore } from '#ledger/store/store.ts';
import { startPostgres } from '../support/ledger/postgres.ts';
import { issuedBatch, NOW } from '../support/ledger/records.ts';
import { signed, storeLaws } from '../support/ledger/store-laws.ts';

const server = await startPostgres();
after(() => server[Symbol.asyncDispose]());

storeLaws(async (name) => openPostgres(await server.database(name)));

/** Lets a stopped server go on. A process of it may end as soon as another one goes on. */
function resume(): void {
  for (const each of server.processes()) {
    try {
      process.kill(each, 'SIGCONT');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** How long a proxy waits for more of an answer: a network or TLS may join answers, too. */
const JOINING_MS = 20;

/** A proxy in front of a server that sends its client all that came within a while at once. */
async function joiningProxy(to: number): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(to, '127.0.0.1');
    const waiting: Buffer[] = [];
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => {
      if (waiting.push(chunk) > 1) return;
      setTimeout(() => client.write(Buffer.concat(waiting.splice(0))), JOINING_MS);
    });
    for (const each of [client, upstream]) {
      sockets.add(each);
      each.on('error', () => undefined);
    }
    client.on('close', () => upstream.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const each of sockets) each.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

test('batches of two processes during a server crash are there once, and in full', async () => {
  const url = await server.database('crash');
  const stores = [await openStore(openPostgres(url)), await openStore(openPostgres(url))];
  const BATCHES = 40;
  const crashes = [10, 25];
  let refused = 0;
  const appended = async (batch: number): Promise<void> => {
    const records = issuedBatch(batch * 10, batch * 10 + 10);
    for (;;) {
      try {
        const results = await stores[batch % 2]?.append(records, { naming: signed, now: NOW });
        assert.ok(results?.every((each) => 'index' in each));
        return;
      } catch (error) {
        assert.ok(
          error instanceof SignerError && error.code === 'LEDGER_UNAVAILABLE',
          String(error),
        );
        refused += 1;
        await ready;
      }
    }
  };
  let ready: Promise<void> = Promise.resolve();
  for (let batch = 0; batch < BATCHES; batch += 4) {
    const four = [0, 1, 2, 3].map((at) => appended(batch + at));
    if (crashes.some((each) => each >= batch && each < batch + 4)) ready = server.crash();
    await Promise.all([...four, ready]);
  }
  const [store] = stores;
  const report = await store?.verify([]);
  assert.deepEqual([report?.records, report?.findings], [BATCHES * 10, []]);
  console.log(JSON.stringify({ refused }));
  for (const each of stores) await each.close();
});

test('gives up a statement that takes too long, and waits for a long transaction', async () => {
  const database = openPostgres(await server.database('patience'));
  await database.write((sql) => sql.script('CREATE TABLE things (name TEXT)'));
  const slow = 'SELECT pg_sleep(9.5)::text AS slept';
  const [refused, waited] = await Promise.allSettled([
    database.write(async (sql) => {
      await sql.script("INSERT INTO things VALUES ('half')");
      await sql.all(slow);
    }),
    database.read((sql) => sql.all(slow), { long: true }),
  ]);
  assert.ok(refused.status === 'rejected');
  const { code, message } = refused.reason as SignerError;
  assert.equal(code, 'LEDGER_UNAVAILABLE');
  assert.match(message, /statement timeout/);
  assert.equal(waited.status, 'fulfilled');
  assert.deepEqual(await database.read((sql) => sql.all('SELECT name FROM things')), []);
  await database.close();
});

test('statements of one round trip may together take longer than one alone', async () => {
  const database = openPostgres(await server.database('slow'));
  const slow = 'SELECT pg_sleep(6)::text AS slept';
  const both = database.read((sql) =>
    sql.both(
      () => sql.all(slow),
      () => sql.all(slow),
    ),
  );
  assert.deepEqual(
    (await both).map((rows) => rows.length),
    [1, 1],
  );
  await database.close();
});

test('an error is that of the statement that failed, also if its answer comes last', async () => {
  const url = await server.database('first-error');
  await using proxy = await joiningProxy(Number(new URL(url).port));
  const database = openPostgres(url.replace(/:\d+\//, `:${proxy.port}/`));
  const failing = database.write((sql) =>
    sql.both(
      () => sql.insert({ table: 'nothing', names: ['name'] }, [['x']]),
      () => sql.all('SELECT 1 AS one'),
    ),
  );
  await assert.rejects(failing, { code: 'LEDGER_UNAVAILABLE', message: /"nothing"/ });
  await database.close();
});

test('a hanging server ends a long transaction that has not begun', async () => {
  const database = openPostgres(await server.database('hangs-long'));
  await database.read((sql) => sql.all('SELECT 1 AS one'));
  for (const each of server.processes()) process.kill(each, 'SIGSTOP');
  try {
    const read = database.read((sql) => sql.all('SELECT 1 AS one'), { long: true });
    await assert.rejects(read, { code: 'LEDGER_UNAVAILABLE' });
  } finally {
    resume();
  }
  await database.close();
});

test('a hanging server is LEDGER_UNAVAILABLE after a bound, and used again later', async () => {
  const url = await server.database('hangs');
  const store = await openStore(openPostgres(url));
  await store.append(issuedBatch(0, 2), { naming: signed, now: NOW });
  const other = await openStore(openPostgres(url));
  for (const each of server.processes()) process.kill(each, 'SIGSTOP');
  try {
    const append = store.append(issuedBatch(2, 4), { naming: signed, now: NOW });
    await assert.rejects(append, { code: 'LEDGER_UNAVAILABLE' });
    await other.close();
  } finally {
    resume();
  }
  await store.append(issuedBatch(2, 4), { naming: signed, now: NOW });
  assert.deepEqual((await store.verify([])).found, 0);
  await store.close();
});
