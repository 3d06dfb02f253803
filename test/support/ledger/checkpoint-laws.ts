// SPDX-License-Identifier: Apache-2.0
/** What must hold of checkpoints that are removed from a ledger, in any database. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { Database } from '#ledger/database/database.ts';
import { openCheckpoint, signCheckpoint } from '#ledger/log/checkpoint.ts';
import { includes, leafHash, sha256 } from '#ledger/log/merkle.ts';
import { noteSigner } from '#ledger/log/note.ts';
import { idOf } from '#ledger/records/ids.ts';
import { openStore, type LedgerStore } from '#ledger/store/store.ts';
import { issuedBatch, NOW, PREFIX } from './records.ts';
import { signed, signerOf } from './store-laws.ts';

const RULE = { newest: 3, span: 10 };
/** C2SP signed-note: key ID and signature. */
const SIGNATURE_BYTES = 4 + 64;
/** C2SP tlog-cosignature: key ID, time and signature. */
const COSIGNATURE_BYTES = 4 + 8 + 64;
const lineOf = (name: string, bytes: number): string =>
  `— ${name} ${randomBytes(bytes).toString('base64')}\n`;
const former = generateKeyPairSync('ed25519').privateKey;

/**
 * Appends records one by one, each with a checkpoint, up to so many of the ledger. Returns the
 * notes by their sizes.
 */
async function grown(
  store: LedgerStore,
  size: number,
  now = NOW,
): Promise<ReadonlyMap<number, string>> {
  const notes = new Map<number, string>();
  const before = (await store.after(0, 1000)).length;
  for (let at = before; at < size; at += 1) {
    await store.append(issuedBatch(at, at + 1), { naming: signed, now });
    for (const head of await store.unsignedHeads()) {
      const note = signCheckpoint(head, signerOf(head.origin), noteSigner(PREFIX, former));
      await store.keepCheckpoint(head, note);
      notes.set(head.size, note);
    }
  }
  return notes;
}

async function sizesOf(store: LedgerStore, log = 1): Promise<readonly number[]> {
  return (await store.checkpoints(log, -1, 1000)).map((note) => Number(note.split('\n')[1]));
}

/** Thins from `from` on. Returns where it ended, and what each call has removed. */
async function thinned(store: LedgerStore, from = 0): Promise<readonly [number, number[]]> {
  const removals: number[] = [];
  for (let next = from; ;) {
    const thinning = await store.thin(1, next, RULE);
    removals.push(thinning.removed);
    assert.ok(thinning.next >= next, 'it goes on');
    if (thinning.done) return [thinning.next, removals];
    next = thinning.next;
  }
}

/** @param open - an empty database, or the same one again for a name that was opened before */
export function checkpointLaws(open: (name: string) => Promise<Database>): void {
  test('thinning keeps the first, the newest and one checkpoint per span', async () => {
    const store = await openStore(await open('thin'));
    assert.deepEqual(await store.thin(1, 0, RULE), { removed: 0, next: 0, done: true });
    await grown(store, 45);
    // 43 to 45 are the newest; the span of 40 is not over.
    const expected = [1, 9, 19, 29, 39, 40, 41, 42, 43, 44, 45];
    const [next, removals] = await thinned(store);
    assert.deepEqual([await sizesOf(store), next], [expected, 40]);
    assert.equal(
      removals.reduce((sum, each) => sum + each, 0),
      45 - expected.length,
    );
    assert.ok(removals.length > 1 && Math.max(...removals) <= RULE.span, String(removals));
    assert.deepEqual(await thinned(store, next), [40, [0]]);
    await grown(store, 52);
    assert.deepEqual(await thinned(store, next), [50, [9]]);
    assert.deepEqual(await sizesOf(store), [1, 9, 19, 29, 39, 49, 50, 51, 52]);
    // After a restart nobody knows where it ended.
    assert.deepEqual(await thinned(store), [50, [0]]);
    await store.close();
  });

  test('after a checkpoint’s removal, proofs of what it covered hold and tampering shows', async () => {
    const database = await open('thin-proofs');
    const store = await openStore(database);
    const early = await grown(store, 15);
    const proof = await store.prove(idOf({ log: 1, index: 7 }));
    assert.ok(proof?.extra !== undefined && proof.checkpoint === early.get(15));
    const notes = [...early.values(), ...(await grown(store, 45)).values()];
    await thinned(store);
    assert.ok(!(await sizesOf(store)).includes(15));
    const report = await store.verify(notes);
    assert.deepEqual([report.findings, report.checkpoints], [[], 11 + 45]);
    for (const note of notes) await store.compareWith(note);
    const { root, size } = openCheckpoint(proof.checkpoint, signerOf(`${PREFIX}/2026`));
    const { extra, index, path } = proof;
    assert.ok(includes(leafHash(sha256(extra)), { index, path, size, root }));
    const again = await store.prove(idOf({ log: 1, index: 7 }));
    assert.equal(again?.checkpoint, notes.at(-1));
    await database.write((sql) => sql.all('UPDATE logs SET size = 44 WHERE number = 1'));
    const { findings } = await store.verify([]);
    assert.ok(findings.some(({ what, message }) => what === 'checkpoint' && /45/.test(message)));
    await assert.rejects(store.unsignedHeads(), { code: 'LEDGER_INCONSISTENT' });
    await store.close();
  });

  test('of a span the last checkpoint that most witnesses have signed stays', async () => {
    const store = await openStore(await open('thin-cosigned'));
    await grown(store, 45);
    const cosigned: readonly (readonly [number, ...string[]])[] = [
      [13, 'a.example'],
      [15, 'b.example'],
      [22, 'a.example', 'b.example'],
      [25, 'a.example'],
    ];
    for (const [size, ...witnesses] of cosigned) {
      for (const each of witnesses)
        await store.cosign({ log: 1, size }, lineOf(each, COSIGNATURE_BYTES));
    }
    // Another key of the ledger's own is no witness.
    await store.cosign({ log: 1, size: 34 }, lineOf('log.example', SIGNATURE_BYTES));
    await thinned(store);
    assert.deepEqual((await sizesOf(store)).slice(0, 5), [1, 9, 15, 22, 39]);
    const [note = ''] = await store.checkpoints(1, 21, 1);
    assert.match(note, /— a\.example .+\n— b\.example .+\n$/u);
    await store.close();
  });

  test('each log is thinned by itself, and the end of a frozen one stays', async () => {
    const store = await openStore(await open('thin-logs'));
    await grown(store, 25);
    await grown(store, 33, Date.UTC(2027, 0, 1));
    assert.deepEqual(await store.thin(2, 0, RULE), { removed: 0, next: 0, done: true });
    assert.equal((await sizesOf(store)).length, 25);
    await thinned(store);
    assert.deepEqual(await sizesOf(store), [1, 9, 19, 20, 21, 22, 23, 24, 25]);
    assert.equal(Number((await store.checkpoint(1))?.split('\n')[1]), 25);
    assert.deepEqual(await sizesOf(store, 2), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert.deepEqual((await store.verify([])).findings, []);
    await store.close();
  });
}
