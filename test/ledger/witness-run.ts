// SPDX-License-Identifier: Apache-2.0
/**
 * Our checkpoints before a witness that is not ours, litewitness (filippo.io/torchwood), over HTTP;
 * and what a webhook gets before the library of Standard Webhooks.
 */
import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createExchange, type HttpCall } from '#base/egress/exchange.ts';
import { PUBLISH_LIMITS, type PublishOutcome } from '#ledger/ledger/publishing/destination.ts';
import { webhook } from '#ledger/ledger/publishing/webhook.ts';
import { witness } from '#ledger/ledger/publishing/witness.ts';
import {
  formatVerifierKey,
  noteSigner,
  openSqlite,
  openStore,
  parseWitnessKey,
  signHeads as signHeadsOf,
  type LedgerKeys,
  type LedgerStore,
} from '#ledger/index.ts';
import type { LogNaming } from '#ledger/store/logs.ts';
import { issuedBatch, NOW, PREFIX } from '../support/ledger/records.ts';
import { signed, signHeads } from '../support/ledger/store-laws.ts';
import { verdictOf } from './build.ts';
import { startLitewitness, type Litewitness } from './litewitness.ts';

const root = mkdtempSync(join(tmpdir(), 'ledger-witness-'));
const exchange = createExchange({
  userAgent: 'countersign/test',
  limits: PUBLISH_LIMITS,
  proxy: undefined,
});
const context = { naming: signed, now: NOW };

let judge: Litewitness;
before(async () => (judge = await startLitewitness(join(root, 'witness'))));
after(async () => {
  await judge.end();
  await exchange.close();
  rmSync(root, { recursive: true, force: true });
});

/** A ledger of its own with so many records, and a checkpoint. */
async function ledger(name: string, records: number, first = 0): Promise<LedgerStore> {
  const store = await openStore(openSqlite(join(root, `${name}.db`)));
  await grow(store, first, first + records);
  return store;
}

async function grow(store: LedgerStore, from: number, to: number): Promise<void> {
  await store.append(issuedBatch(from, to), context);
  await signHeads(store);
}

/**
 * Asks as a component that has just been started would: it knows nothing of what the witness has
 * seen.
 */
async function ask(
  store: LedgerStore,
  place = witness({ url: judge.url, store, exchange, key: parseWitnessKey(judge.key) }),
): Promise<PublishOutcome> {
  const [log] = await store.logs();
  const note = await store.checkpoint(1);
  assert.ok(log !== undefined && note !== undefined);
  const size = Number(note.split('\n')[1]);
  const outcome = await place.publish({ log, size, note }, AbortSignal.timeout(60_000));
  if (outcome.kind === 'taken') await store.cosign({ log: 1, size }, outcome.cosignature ?? '');
  return outcome;
}

async function cosignedBy(key: string, store: LedgerStore): Promise<string> {
  const file = join(root, 'checkpoint');
  writeFileSync(file, (await store.checkpoint(1)) ?? '');
  return verdictOf('cosigned', key, [file]);
}

test('a witness cosigns a growing log, and the kept checkpoint has its line', async () => {
  const store = await ledger('good', 3);
  const [log] = await store.logs();
  assert.ok(log !== undefined);
  const key = formatVerifierKey({ name: log.origin, publicKey: log.publicKey });
  const unknown = await ask(store);
  assert.ok(unknown.kind === 'failed' && unknown.why.includes(key), JSON.stringify(unknown));
  judge.know(log.origin, key);
  const place = witness({ url: judge.url, key: parseWitnessKey(judge.key), store, exchange });
  // By the place that remembers what it has seen, and by one that was started again.
  for (const [to, asker] of [
    [3, place],
    [300, place],
    [301, undefined],
    [1000, place],
  ] as const) {
    await grow(store, 0, to);
    assert.equal((await ask(store, asker)).kind, 'taken', `${to} entries`);
    assert.equal(await cosignedBy(judge.key, store), '');
    const file = join(root, 'checkpoint');
    assert.equal(await verdictOf('note', key, [file]), '', 'and it is still a checkpoint');
  }
  assert.equal((await store.verify([])).found, 0);
  await store.close();
});

test('a checkpoint without its line is not cosigned', async () => {
  const store = await ledger('bare', 3);
  assert.notEqual(await cosignedBy(judge.key, store), '');
  await store.close();
});

test('an older copy and another history of the same key are contradicted', async () => {
  const older = await ledger('older', 200);
  const copied = await ask(older);
  assert.ok(
    copied.kind === 'contradicted' && copied.why.includes('1000 entries'),
    JSON.stringify(copied),
  );
  const fork = await ledger('fork', 1001, 5);
  const rewritten = await ask(fork);
  assert.ok(rewritten.kind === 'contradicted' && rewritten.why.includes('rewritten'));
  await older.close();
  await fork.close();
});

test('a cosignature by another key than the one that was given counts nothing', async () => {
  const store = await openStore(openSqlite(join(root, 'good.db')));
  const key = { ...parseWitnessKey(judge.key), publicKey: new Uint8Array(32).fill(9) };
  const outcome = await ask(store, witness({ url: judge.url, key, store, exchange }));
  assert.equal(outcome.kind, 'failed', JSON.stringify(outcome));
  await store.close();
});

test('the Standard Webhooks library verifies deliveries, and no other secret or body', async () => {
  const secret = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;
  const calls: HttpCall[] = [];
  const place = webhook({
    url: new URL('https://hooks.example.com/'),
    clock: Date.now,
    readSecret: () => Promise.resolve(secret),
    exchange: {
      send: (call) => {
        calls.push(call);
        return Promise.resolve({ status: 200, headers: {}, body: Buffer.alloc(0) });
      },
    },
  });
  const store = await openStore(openSqlite(join(root, 'good.db')));
  const [log] = await store.logs();
  assert.ok(log !== undefined);
  const note = (await store.checkpoint(1)) ?? '';
  await place.publish({ log, size: log.size, note }, AbortSignal.timeout(60_000));
  await store.close();
  const [{ body = '', headers = {} } = {}] = calls;
  const [bodyFile, headersFile] = [join(root, 'body'), join(root, 'headers.json')];
  writeFileSync(bodyFile, body);
  writeFileSync(headersFile, JSON.stringify(headers));
  assert.equal(await verdictOf('webhook', secret, [bodyFile, headersFile]), '');
  const other = `whsec_${Buffer.alloc(24, 6).toString('base64')}`;
  assert.notEqual(await verdictOf('webhook', other, [bodyFile, headersFile]), '');
  writeFileSync(bodyFile, `${body} `);
  assert.notEqual(await verdictOf('webhook', secret, [bodyFile, headersFile]), '');
});

test('Go’s note accepts either key during a key change, then only the log’s own', async () => {
  const [former, current] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
  const naming = (key: KeyObject): LogNaming => ({
    prefix: PREFIX,
    publicKey: noteSigner(PREFIX, key).publicKey,
  });
  const store = await openStore(openSqlite(join(root, 'rotated.db')));
  await store.append(issuedBatch(0, 3), { naming: naming(former.privateKey), now: NOW });
  const next = { naming: naming(current.privateKey), now: NOW };
  await store.append(issuedBatch(3, 5), next);
  const verdicts = async (keys: LedgerKeys): Promise<readonly boolean[]> => {
    const note = (await signHeadsOf(store, keys)).at(-1)?.note ?? '';
    const file = join(root, 'rotated');
    writeFileSync(file, note);
    const names = [
      noteSigner(`${PREFIX}/2026`, former.privateKey),
      noteSigner(`${PREFIX}/2026-2`, current.privateKey),
    ];
    return Promise.all(
      names.map(async (key) => (await verdictOf('signed', formatVerifierKey(key), [file])) === ''),
    );
  };
  assert.deepEqual(await verdicts([current.privateKey, former.privateKey]), [true, true]);
  await store.append(issuedBatch(5, 7), next);
  assert.deepEqual(await verdicts([current.privateKey]), [false, true]);
  await store.close();
});
