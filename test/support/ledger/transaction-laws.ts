// SPDX-License-Identifier: Apache-2.0
/** What must hold of the steps of one transaction: in any database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { numberOf, type Database } from '#ledger/database/database.ts';
import { SignerError } from '#base/errors.ts';

const THINGS = { table: 'things', names: ['name'] };

/** @param open - an empty database */
export function transactionLaws(open: (name: string) => Promise<Database>): void {
  test('two steps give their results in order', async () => {
    const database = await open('both');
    const results = await database.read((sql) =>
      sql.both(
        () => sql.all('SELECT 1 AS first'),
        async () => {
          const [row] = await sql.all('SELECT 2 AS second');
          return numberOf(row, 'second');
        },
      ),
    );
    assert.deepEqual([Object.entries(results[0][0] ?? {}), results[1]], [[['first', 1]], 2]);
    await database.close();
  });

  test('no step writes outside the transaction that an error of another ended', async () => {
    const database = await open('step-failed');
    await database.write((sql) => sql.script('CREATE TABLE things (name TEXT)'));
    const failing = database.write((sql) =>
      sql.both(
        async () => {
          await sql.insert(THINGS, [['before']]);
          await sql.script("INSERT INTO nothing VALUES ('fails')");
        },
        async () => {
          await delay(100);
          await sql.insert(THINGS, [['after']]);
        },
      ),
    );
    await assert.rejects(failing, (error: unknown) => {
      assert.ok(error instanceof SignerError);
      assert.equal(error.code, 'LEDGER_UNAVAILABLE');
      assert.match(error.message, /nothing/);
      return true;
    });
    // The connection of the failed transaction is used again.
    await delay(200);
    const [row] = await database.write((sql) => sql.all('SELECT COUNT(*) AS n FROM things'));
    assert.equal(numberOf(row, 'n'), 0);
    await database.close();
  });
}
