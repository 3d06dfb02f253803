// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../../..');

/** The program that docs/how-to/audit.md gives to the ledger's own Node. */
function backupProgram(directory: string): string {
  const page = readFileSync(join(ROOT, 'docs/how-to/audit.md'), 'utf8');
  const [, program = ''] = /ledger-backup\.db <<'EOF'\n([^]*?)\nEOF\n/.exec(page) ?? [];
  return program.replaceAll('/var/lib/countersign', directory);
}

test('the backup of the how-to has every row, leaves no file, and can be repeated', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'ledger-backup-'));
  t.after(() => {
    rmSync(directory, { recursive: true });
  });
  const ledger = new DatabaseSync(join(directory, 'ledger.db'));
  t.after(() => {
    ledger.close();
  });
  ledger.exec('PRAGMA journal_mode = WAL; CREATE TABLE records (body TEXT)');
  // What a backup that was cut off has left.
  writeFileSync(join(directory, 'backup.db'), 'half');
  for (const rows of [1, 5_000]) {
    ledger.exec('BEGIN; DELETE FROM records');
    const insert = ledger.prepare('INSERT INTO records VALUES (?)');
    for (let row = 0; row < rows; row++) insert.run('x'.repeat(100));
    ledger.exec('COMMIT');
    const input = backupProgram(directory);
    const copy = join(directory, 'copy');
    writeFileSync(copy, execFileSync(process.execPath, ['-'], { input, maxBuffer: 2 ** 24 }));
    const backup = new DatabaseSync(copy);
    assert.equal(backup.prepare('SELECT count(*) AS rows FROM records').get()?.['rows'], rows);
    backup.close();
    assert.ok(!existsSync(join(directory, 'backup.db')));
  }
});
