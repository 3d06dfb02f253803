// SPDX-License-Identifier: Apache-2.0
/** What must hold of a ledger in any database. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { fingerprint } from '#pki/x509/certificate.ts';
import { SignerError } from '#base/errors.ts';
import { migrate } from '#ledger/database/migrations.ts';
import type { Database } from '#ledger/database/database.ts';
import { signCheckpoint } from '#ledger/log/checkpoint.ts';
import { noteSigner, type NoteSigner } from '#ledger/log/note.ts';
import type { LedgerRecord } from '#ledger/records/record.ts';
import { includes, leafHash, sha256 } from '#ledger/log/merkle.ts';
import type { AppendResult } from '#ledger/store/append.ts';
import { idOf } from '#ledger/records/ids.ts';
import { contentsOf } from '#ledger/store/search.ts';
import type { RecordQuery } from '#ledger/store/index-scan.ts';
import { openStore, type LedgerStore } from '#ledger/store/store.ts';
import { checkpointLaws } from './checkpoint-laws.ts';
import { columnLaws } from './column-laws.ts';
import { removalLaws } from './removal-laws.ts';
import { textLaws } from './text-laws.ts';
import { transactionLaws } from './transaction-laws.ts';
import {
  appending,
  CA,
  issuedBatch,
  issuedRecord,
  naming,
  NOW,
  podCertificate,
  PREFIX,
  resultRecord,
  serialOf,
  uriOf,
} from './records.ts';

const context = { naming, now: NOW };
const privateKey = generateKeyPairSync('ed25519').privateKey;
export const signerOf = (origin: string): NoteSigner => noteSigner(origin, privateKey);
/** As {@link naming}, with a key that signs. */
export const signed = { prefix: PREFIX, publicKey: signerOf(PREFIX).publicKey };

export async function signHeads(store: LedgerStore): Promise<readonly string[]> {
  const notes: string[] = [];
  for (const head of await store.unsignedHeads()) {
    const note = signCheckpoint(head, signerOf(head.origin));
    await store.keepCheckpoint(head, note);
    notes.push(note);
  }
  return notes;
}

function places(results: readonly AppendResult[]): readonly (number | string)[] {
  return results.map((each) => (each instanceof SignerError ? each.code : each.index));
}

/** @param open - an empty database, or the same one again for a name that was opened before */
export function storeLaws(open: (name: string) => Promise<Database>): void {
  const opened = async (name: string): Promise<LedgerStore> => openStore(await open(name));

  test('records get the indexes of their order, and a repeated batch gets the same ones', async () => {
    const store = await opened('once');
    const batch = issuedBatch(0, 5);
    assert.deepEqual(places(await store.append(batch, context)), [0, 1, 2, 3, 4]);
    const again = await store.append([...batch, ...issuedBatch(5, 7)], context);
    assert.deepEqual(places(again), [0, 1, 2, 3, 4, 5, 6]);
    assert.deepEqual(
      again.map((each) => 'known' in each && each.known),
      [...Array<boolean>(5).fill(true), false, false],
    );
    assert.equal((await store.logs())[0]?.size, 7);
    await store.close();
  });

  test('a key twice in one batch is one record', async () => {
    const store = await opened('twice');
    const results = await store.append([...issuedBatch(0, 1), ...issuedBatch(0, 1)], context);
    assert.deepEqual(places(results), [0, 0]);
    assert.equal((await store.verify([])).records, 1);
    await store.close();
  });

  test('refuses a record with a known key or no certificate, and no other record', async () => {
    const store = await opened('conflict');
    await store.append(issuedBatch(0, 1), context);
    const results = await store.append(
      [
        appending(issuedRecord(0, { decision: { rule: 'other' } })),
        appending(issuedRecord(1, { certificate: 'AAAA' })),
        appending(issuedRecord(2)),
      ],
      context,
    );
    assert.deepEqual(places(results), ['LEDGER_CONFLICT', 'LEDGER_MALFORMED', 1]);
    assert.equal((await store.verify([])).found, 0);
    await store.close();
  });

  test('batches that are appended at once do not mix their indexes', async () => {
    const store = await opened('at-once');
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        store.append(issuedBatch(at * 40, at * 40 + 40), context),
      ),
    );
    const indexes = results.flatMap(places) as number[];
    assert.deepEqual(
      indexes.toSorted((a, b) => a - b),
      [...Array(320).keys()],
    );
    assert.deepEqual((await store.verify([])).findings, []);
    await store.close();
  });

  test('a record is found by each thing that is known of it', async () => {
    const store = await opened('search');
    await store.append(issuedBatch(0, 60), context);
    await store.append([appending(resultRecord(33))], { naming, now: NOW + 1000 });
    const found = async (query: Partial<RecordQuery>): Promise<readonly number[]> =>
      (await store.find({ terms: [], limit: 100, ...query })).records.map(({ index }) => index);
    const only = [
      { kind: 'serial', value: serialOf(33) },
      { kind: 'fingerprint', value: fingerprint(podCertificate(33)) },
      { kind: 'san', value: uriOf(33) },
      { kind: 'san', value: 'pod-33.example.com' },
      { kind: 'subject', value: 'pod-33' },
      { kind: 'pod', value: 'team-3/pod-33' },
      { kind: 'podUid', value: 'pod-uid-33' },
      { kind: 'serviceAccount', value: 'team-3/web-33' },
      { kind: 'request', value: 'request-33' },
    ] as const;
    for (const term of only) assert.deepEqual(await found({ terms: [term] }), [33], term.kind);
    assert.deepEqual(await found({ terms: [{ kind: 'of', value: 'request-33/issued' }] }), [60]);
    const team = { kind: 'namespace', value: 'team-3' } as const;
    const node = { kind: 'node', value: 'node-5' } as const;
    assert.deepEqual(await found({ terms: [team] }), [53, 43, 33, 23, 13, 3]);
    assert.deepEqual(await found({ terms: [node, team] }), [33]);
    for (const [kind, value] of [
      ['signer', 'example.com/workload'],
      ['ca', CA],
      ['rule', 'allow'],
    ] as const) {
      const terms = [{ kind, value }];
      assert.equal((await found({ terms })).length, 60);
      assert.deepEqual(await found({ terms, after: { id: 3 }, limit: 2 }), []);
      assert.deepEqual(
        await found({ terms, after: { id: idOf({ log: 1, index: 3 }) } }),
        [2, 1, 0],
      );
    }
    assert.deepEqual(await found({ kinds: ['result'] }), [60]);
    assert.deepEqual(await found({ since: NOW + 1000 }), [60]);
    assert.equal((await found({ until: NOW + 1000 })).length, 60);
    const soon = { expiresAfter: NOW + 5 * 60_000, expiresBefore: NOW + 8 * 60_000 };
    assert.deepEqual(await found(soon), [5, 6, 7]);
    const fifth = { id: idOf({ log: 1, index: 5 }), notAfter: NOW + 5 * 60_000 };
    assert.deepEqual(await found({ ...soon, after: fifth }), [6, 7]);
    assert.deepEqual(await found({ ...soon, terms: [{ kind: 'ca', value: CA }] }), [5, 6, 7]);
    assert.deepEqual(await found({ terms: [team], oldestFirst: true }), [3, 13, 23, 33, 43, 53]);
    assert.deepEqual(await found({ ...soon, terms: [team] }), []);
    await store.close();
  });

  test('many results of one record take no room from those of another', async () => {
    const store = await opened('results');
    await store.append(issuedBatch(0, 3), context);
    const many = Array.from({ length: 20 }, (_, n): LedgerRecord => ({
      ...resultRecord(0),
      key: `request-0/result-${n}`,
    }));
    await store.append([...many, resultRecord(2)].map(appending), context);
    const found = await store.results([0, 1, 2].map((n) => `request-${n}/issued`));
    assert.deepEqual(
      found.map((each) => contentsOf(each).record.key),
      ['request-0/result-0', 'request-0/result-1', 'request-0/result-2', 'request-2/result'],
    );
    await store.close();
  });

  test('a checkpoint is signed of what has grown; a proof of a record leads to it', async () => {
    const store = await opened('proof');
    const own = { naming: signed, now: NOW };
    await store.append(issuedBatch(0, 300), own);
    const id = idOf({ log: 1, index: 260 });
    assert.equal(await store.prove(id), undefined);
    const [head] = await store.unsignedHeads();
    assert.equal((await signHeads(store)).length, 1);
    assert.deepEqual(await store.unsignedHeads(), []);
    const proof = await store.prove(id);
    assert.ok(proof !== undefined && head !== undefined);
    const { extra, index, path } = proof;
    assert.ok(extra !== undefined);
    assert.equal(contentsOf({ body: extra.subarray(32) }).record.key, 'request-260/issued');
    const leaf = leafHash(sha256(extra));
    assert.ok(includes(leaf, { index, path, size: 300, root: head.root }));
    await store.append(issuedBatch(300, 301), own);
    assert.equal((await store.unsignedHeads())[0]?.size, 301);
    await store.close();
  });

  test('a new year or key begins a new log; a clock set back reopens none', async () => {
    const store = await opened('years');
    const newYear = Date.UTC(2027, 0, 1);
    await store.append(issuedBatch(0, 2), { naming: signed, now: newYear - 1 });
    await store.append(issuedBatch(2, 4), { naming: signed, now: newYear });
    await store.append(issuedBatch(4, 5), { naming: signed, now: newYear - 1 });
    await store.append(issuedBatch(5, 6), { naming, now: newYear });
    const logs = await store.logs();
    assert.deepEqual(
      logs.map(({ origin, size }) => [origin, size]),
      [
        [`${PREFIX}/2026`, 2],
        [`${PREFIX}/2027`, 3],
        [`${PREFIX}/2027-2`, 1],
      ],
    );
    assert.deepEqual((await store.verify([])).findings, []);
    const all = await store.after(0, 100);
    assert.deepEqual(
      all.map((each) => contentsOf(each).record.key),
      [0, 1, 2, 3, 4, 5].map((n) => `request-${n}/issued`),
    );
    await store.close();
  });

  columnLaws(open);
  removalLaws(opened);
  checkpointLaws(open);
  textLaws(opened);
  transactionLaws(open);

  test('the schema goes down and up again, and everything is found as before', async () => {
    const database = await open('migrations');
    const store = await openStore(database);
    await store.append(issuedBatch(0, 1100), { naming: signed, now: NOW });
    const terms = [{ kind: 'san', value: uriOf(1050) }] as const;
    const gone = idOf({ log: 1, index: 7 });
    const eraser = { naming: signed, now: NOW, by: 'admin', limit: 1, salt: randomBytes(32) };
    await store.erase({ reason: 'person', ids: [gone] }, eraser);
    const removal = await store.removal(gone);
    assert.equal(removal?.by, 'admin');
    const before = await store.find({ terms, limit: 10 });
    await migrate(database, 1);
    await assert.rejects(store.find({ terms, limit: 10 }), { code: 'LEDGER_UNAVAILABLE' });
    await migrate(database);
    assert.deepEqual(await store.find({ terms, limit: 10 }), before);
    assert.deepEqual(await store.removal(gone), removal);
    assert.deepEqual((await store.verify([])).findings, []);
    await store.close();
  });

  test('a database of a newer program is not touched', async () => {
    const database = await open('newer');
    await migrate(database);
    const names = ['number'];
    await database.write((sql) => sql.insert({ table: 'migrations', names }, [[99]]));
    await assert.rejects(openStore(database), { code: 'LEDGER_INCONSISTENT' });
    await database.close();
  });
}
