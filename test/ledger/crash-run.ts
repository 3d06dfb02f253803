// SPDX-License-Identifier: Apache-2.0
/**
 * The files of a ledger as a crash can leave them: WAL and database cut together from what they
 * were before and after a batch, at random offsets. What was acknowledged is there, a batch is
 * there whole or not at all, and verify holds.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openSqlite } from '#ledger/database/sqlite.ts';
import { openStore, type LedgerStore } from '#ledger/store/store.ts';
import { Dice } from '../oracle/dice.ts';
import { issuedBatch, NOW } from '../support/ledger/records.ts';
import { signed } from '../support/ledger/store-laws.ts';

const root = mkdtempSync(join(tmpdir(), 'ledger-crash-'));
after(() => rmSync(root, { recursive: true, force: true }));

const BATCHES = 80;
const BATCH = 15;
const CUTS = 120;
/** So few that they are copied into the database several times on the way. */
const WAL_PAGES = 200;
const SEED = Number(process.env['SEED'] ?? 1);

interface Files {
  readonly database: Buffer;
  readonly wal: Buffer;
}

const filesOf = (path: string): Files => ({
  database: readFileSync(path),
  wal: readFileSync(`${path}-wal`),
});

/** Bytes of `now` up to `at`, and those of `before` from there on. */
function cut(before: Buffer, now: Buffer, at: number): Buffer {
  return Buffer.concat([now.subarray(0, at), before.subarray(at)]);
}

async function reopened(name: string, { database, wal }: Files): Promise<LedgerStore> {
  const path = join(root, name);
  writeFileSync(path, database);
  writeFileSync(`${path}-wal`, wal);
  return openStore(openSqlite(path));
}

test(`${CUTS} crashes within and between ${BATCHES} batches (seed ${SEED})`, async () => {
  const path = join(root, 'living.db');
  const store = await openStore(openSqlite(path, WAL_PAGES));
  const states: Files[] = [filesOf(path)];
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const records = issuedBatch(batch * BATCH, (batch + 1) * BATCH);
    await store.append(records, { naming: signed, now: NOW });
    states.push(filesOf(path));
  }
  const dice = new Dice(SEED);
  const seen = { before: 0, after: 0, checkpoints: 0 };
  for (let number = 0; number < CUTS; number += 1) {
    const batch = dice.roll(BATCHES);
    const [before, now] = [states[batch], states[batch + 1]];
    assert.ok(before !== undefined && now !== undefined);
    // SQLite writes the WAL, syncs it, and only then copies pages into the database.
    const copies = !before.database.equals(now.database) && dice.roll(2) === 0;
    if (copies) seen.checkpoints += 1;
    const files = copies
      ? {
          wal: now.wal,
          database: cut(before.database, now.database, dice.roll(now.database.length)),
        }
      : {
          wal: cut(before.wal, now.wal, dice.roll(now.wal.length + 1)),
          database: before.database,
        };
    const crashed = await reopened(`${number}.db`, files);
    const size = (await crashed.logs())[0]?.size ?? 0;
    const acknowledged = (copies ? batch + 1 : batch) * BATCH;
    assert.ok(size === acknowledged || size === (batch + 1) * BATCH, `${size} of ${acknowledged}`);
    seen[size === batch * BATCH ? 'before' : 'after'] += 1;
    const report = await crashed.verify([]);
    assert.deepEqual([report.records, report.findings], [size, []]);
    const again = await crashed.append(issuedBatch(batch * BATCH, (batch + 1) * BATCH), {
      naming: signed,
      now: NOW,
    });
    assert.ok(again.every((each) => 'index' in each || size > acknowledged || copies));
    await crashed.close();
    rmSync(join(root, `${number}.db`));
  }
  console.log(JSON.stringify(seen));
  assert.ok(seen.before > 0 && seen.after > 0 && seen.checkpoints > 0);
  await store.close();
});
