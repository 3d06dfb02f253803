// SPDX-License-Identifier: Apache-2.0
/** A lock against other processes that write the same files. */
import { writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, usageError } from '#base/errors.ts';
import { OWNER_ONLY } from './owner-only-file.ts';

/** SQLITE_BUSY: another connection has the lock. */
const BUSY = 5;

/**
 * Runs `work` while no other process has the lock of these files. The lock is one of SQLite: the
 * operating system releases it when its process ends, also after SIGKILL. The lock file stays. If
 * each process removed it, two could each lock a file of that name.
 *
 * @param base - path of the files without an extension
 * @throws SignerError USAGE (`fail`) if another process has the lock, or the file cannot be locked
 */
export async function whileLocked<T>(base: string, work: () => Promise<T>): Promise<T> {
  const path = `${base}.lock`;
  // A user who may read the file could lock it.
  await writeFile(path, '', { mode: OWNER_ONLY, flag: 'a' });
  const database = lock(path, base);
  try {
    return await work();
  } finally {
    database.close();
  }
}

function lock(path: string, base: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // Nothing is stored, so no journal is needed beside the file.
    database.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    throw usageError(
      isBusy(error)
        ? `another countersign request writes the files of ${base}: repeat the command once it has ended`
        : `${path} cannot be locked: ${messageOf(error)}; if it is a file of yours, move it away, or choose another directory by --out`,
      error,
    );
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === BUSY;
}
