// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { type SignerError, usageError } from '#base/errors.ts';
import { LATEST_SCHEMA, migrate, openSqlite } from '#ledger/index.ts';
import type { Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import type { DatabaseFlags } from '#ledger/database-flags.ts';
import { openNamedPostgres } from '#ledger/open-postgres.ts';
import { printDocument, printText } from '#cli/terminal.ts';

/** Flags of `countersign ledger migrate`. */
export interface MigrateOptions extends DatabaseFlags {
  readonly data?: string;
  readonly schema?: number;
  readonly output: Output;
}

/**
 * Runs `countersign ledger migrate`: migrates a database up or down to the schema of another
 * version. All records stay.
 *
 * @throws SignerError USAGE, LEDGER_UNAVAILABLE, or LEDGER_INCONSISTENT for a database of a newer
 * program
 */
export async function runMigrate(options: MigrateOptions): Promise<void> {
  const { data, schema: target = LATEST_SCHEMA, output } = options;
  if (target < 1 || target > LATEST_SCHEMA) throw noSuchSchema(target);
  const postgres = await openNamedPostgres(options);
  if (data === undefined && postgres === undefined) throw nowhere();
  const database = postgres ?? openSqlite(join(data ?? '', 'ledger.db'));
  try {
    const migrated = await migrate(database, target);
    if (output === 'text') printText(textOf(migrated));
    else printDocument(structuredText(migrated, output));
  } finally {
    await database.close();
  }
}

function textOf({ from, to }: Awaited<ReturnType<typeof migrate>>): string {
  if (from === to) return `the database has the schema ${to} already\n`;
  return `the database has the schema ${to}; it had ${from === 0 ? 'none' : from}\n`;
}

/** Returns the error for an unknown schema. 0 would remove every record. */
function noSuchSchema(schema: number): SignerError {
  const message = `there is no schema ${schema}: this version knows 1 to ${LATEST_SCHEMA}`;
  return usageError(message);
}

function nowhere(): SignerError {
  const message = 'which database? write --data <directory>, or --database-url <file>';
  return usageError(message);
}
