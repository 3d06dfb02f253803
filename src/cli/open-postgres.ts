// SPDX-License-Identifier: Apache-2.0
/** Apart from its flags: only who opens a database loads its client. */
import { readFile } from 'node:fs/promises';
import { usageError } from '../errors.ts';
import { openPostgres } from '../ledger/index.ts';
import type { DatabaseOptions } from './database-options.ts';

/**
 * The PostgreSQL of the flags; undefined where they name none.
 *
 * @throws SignerError USAGE for flags that contradict each other; Error if a file cannot be read
 */
export async function openNamedPostgres(
  options: DatabaseOptions,
): Promise<ReturnType<typeof openPostgres> | undefined> {
  const { database, databaseUrl, databasePassword, databaseCa } = options;
  if (database !== undefined && databaseUrl !== undefined) {
    throw usageError('--database and --database-url name a database each; leave one of them out');
  }
  if ((database === undefined) !== (databasePassword === undefined)) {
    throw usageError('--database and --database-password go together');
  }
  const url = databaseUrl === undefined ? database : await textIn(databaseUrl);
  if (url === undefined) {
    if (databaseCa === undefined) return undefined;
    throw usageError('--database-ca is for PostgreSQL; add --database or --database-url');
  }
  return openPostgres(url, {
    password: databasePassword === undefined ? undefined : () => textIn(databasePassword),
    ca: databaseCa === undefined ? undefined : await readFile(databaseCa, 'utf8'),
  });
}

async function textIn(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).trim();
}
