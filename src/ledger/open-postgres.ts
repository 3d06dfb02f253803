// SPDX-License-Identifier: Apache-2.0
/**
 * Opens PostgreSQL. It is in its own file, so that only commands that open a database load its
 * client.
 */
import { readFile } from 'node:fs/promises';
import { usageError } from '#base/errors.ts';
import { openPostgres } from './index.ts';
import type { DatabaseFlags } from './database-flags.ts';

/**
 * Opens the PostgreSQL of the flags. Returns undefined if they name none.
 *
 * @throws SignerError USAGE for flags that contradict each other, or Error if a file cannot be read
 */
export async function openNamedPostgres(
  options: DatabaseFlags,
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
