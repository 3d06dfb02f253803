// SPDX-License-Identifier: Apache-2.0
/** Where the records are, for the component `ledger` and for who verifies beside it. */
import type { Command } from 'commander';

/** The flags of a PostgreSQL database. */
export interface DatabaseOptions {
  readonly databaseUrl?: string;
  readonly database?: string;
  readonly databasePassword?: string;
  readonly databaseCa?: string;
}

/** Adds {@link DatabaseOptions}. */
export function addDatabaseOptions(command: Command): Command {
  return command
    .option(
      '--database-url <file>',
      'file with the whole URL of a PostgreSQL database (postgresql://…), in place of SQLite; with TLS, unless it says sslmode=disable',
    )
    .option(
      '--database <url>',
      'the same without a password, postgresql://<user>@<host>:5432/<database>; with --database-password',
    )
    .option('--database-password <file>', 'password for --database; read for each connection')
    .option(
      '--database-ca <file>',
      'PEM of the only CAs that the certificate of PostgreSQL may be of (default: those of Node.js)',
    );
}

/** Whether the flags name a PostgreSQL: several replicas have the same records then. */
export function namesPostgres({ database, databaseUrl }: DatabaseOptions): boolean {
  return database !== undefined || databaseUrl !== undefined;
}
