// SPDX-License-Identifier: Apache-2.0
/**
 * The flags that locate the records, for the component `ledger` and for commands that verify them.
 */
import type { Flag } from '#component/flag.ts';

/** The flags of a PostgreSQL database. */
export interface DatabaseFlags {
  readonly databaseUrl?: string;
  readonly database?: string;
  readonly databasePassword?: string;
  readonly databaseCa?: string;
}

/** {@link DatabaseFlags} */
export const DATABASE_FLAGS: readonly Flag[] = [
  {
    flag: '--database-url <file>',
    help: 'file with the whole URL of a PostgreSQL database (postgresql://…), in place of SQLite; with TLS, unless it has sslmode=disable',
  },
  {
    flag: '--database <url>',
    help: 'the same without a password, postgresql://<user>@<host>:5432/<database>; with --database-password',
  },
  {
    flag: '--database-password <file>',
    help: 'password for --database; read for each connection',
  },
  {
    flag: '--database-ca <file>',
    help: 'PEM of the only CAs that the certificate of PostgreSQL may be of (default: those of Node.js)',
  },
];

/** Reports whether the flags name a PostgreSQL database, which several replicas share. */
export function namesPostgres({ database, databaseUrl }: DatabaseFlags): boolean {
  return database !== undefined || databaseUrl !== undefined;
}
