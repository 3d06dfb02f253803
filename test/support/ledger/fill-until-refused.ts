// SPDX-License-Identifier: Apache-2.0
/**
 * Appends to the ledger at the path that is given, until it is refused; says how many records were
 * acknowledged, and by which code it was refused. Its files cannot grow beyond the limit that its
 * parent has set.
 */
import { openSqlite } from '#ledger/database/sqlite.ts';
import { SignerError } from '#base/errors.ts';
import { openStore } from '#ledger/store/store.ts';
import { issuedBatch, naming, NOW } from './records.ts';

const BATCH = 20;

// Without it the system ends a process whose file would grow beyond its limit (setrlimit(2),
// RLIMIT_FSIZE).
process.on('SIGXFSZ', () => undefined);

const [, , path = ''] = process.argv;
const store = await openStore(openSqlite(path));
for (let acknowledged = 0; ; acknowledged += BATCH) {
  try {
    await store.append(issuedBatch(acknowledged, acknowledged + BATCH), { naming, now: NOW });
  } catch (error) {
    const code = error instanceof SignerError ? error.code : String(error);
    const readable = (await store.verify([])).records;
    console.log(JSON.stringify({ acknowledged, code, readable }));
    // At an ordinary end SQLite would copy the WAL into the database, which does not fit either.
    process.kill(process.pid, 'SIGKILL');
    break;
  }
}
