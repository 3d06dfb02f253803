// SPDX-License-Identifier: Apache-2.0
/** A disk that is full: a limit of the size of files stands in for it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { openSqlite } from '#ledger/database/sqlite.ts';
import { openStore } from '#ledger/store/store.ts';
import { issuedBatch, naming, NOW } from '../support/ledger/records.ts';

const root = mkdtempSync(join(tmpdir(), 'ledger-full-'));
after(() => rmSync(root, { recursive: true, force: true }));

const program = join(import.meta.dirname, '../support/ledger/fill-until-refused.ts');

// Below 4 MiB it is the WAL that does not fit, above it the database.
for (const kilobytes of [1_500, 6_000]) {
  test(`files of ${kilobytes} KiB: refuses a batch that does not fit, and loses nothing`, async () => {
    const path = join(root, `${kilobytes}.db`);
    const command = `ulimit -f ${kilobytes} && exec "${process.execPath}" "${program}" "${path}"`;
    const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
    const said = JSON.parse(await text(child.stdout)) as Record<string, number | string>;
    const { acknowledged, code, readable } = said;
    assert.equal(code, 'LEDGER_UNAVAILABLE');
    assert.ok(typeof acknowledged === 'number' && acknowledged > 0);
    assert.equal(readable, acknowledged);
    const store = await openStore(openSqlite(path));
    assert.equal((await store.verify([])).records, acknowledged);
    await store.append(issuedBatch(acknowledged, acknowledged + 20), { naming, now: NOW });
    const report = await store.verify([]);
    assert.deepEqual([report.records, report.findings], [acknowledged + 20, []]);
    await store.close();
  });
}
