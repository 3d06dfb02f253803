// SPDX-License-Identifier: Apache-2.0
/** SQLite by node:sqlite. It blocks its thread: a worker's (store/worker.ts). */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { messageOf, SignerError } from '../../errors.ts';
import { onConflict, unavailable } from './database.ts';
import type { SqlColumns, Database, SqlRow, Sql, SqlValue } from './database.ts';

/** How long one process waits for another's transaction: a batch takes a few milliseconds. */
const BUSY_MILLISECONDS = 5_000;

/**
 * The WAL is copied into the database after so many pages of 4 KiB, four times SQLite's own number: each batch writes the right
 * edges of the same trees, and those are copied once. To open a database after a crash reads 16 MiB more at most.
 */
const WAL_PAGES = 4_000;
/** Each record touches a leaf of some fifteen terms: SQLite's own 2 MiB do not hold those of a batch. */
const CACHE_KIB = 16 * 1024;

/**
 * What is committed is on disk: with WAL and FULL, each commit ends with fsync of the WAL. Removed rows are
 * overwritten, since they hold personal data.
 */
const pragmas = (walPages: number): string => `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA secure_delete = ON;
  PRAGMA busy_timeout = ${BUSY_MILLISECONDS};
  PRAGMA wal_autocheckpoint = ${walPages};
  PRAGMA cache_size = -${CACHE_KIB};
`;

/**
 * Opens the file, which is created where it is not there.
 *
 * @param path - on a disk of this machine: WAL does not work on NFS
 * @param walPages - of the WAL, before SQLite copies them into the file
 * @throws SignerError LEDGER_UNAVAILABLE
 */
export function openSqlite(path: string, walPages = WAL_PAGES): Database {
  const connection = guarded(() => {
    const opened = new DatabaseSync(path);
    opened.exec(pragmas(walPages));
    return opened;
  });
  const turns = new Turns();
  const sql = new SqliteSql(connection);
  return {
    write: (work) => turns.take(() => transaction(connection, 'BEGIN IMMEDIATE', () => work(sql))),
    read: (work) => turns.take(() => transaction(connection, 'BEGIN', () => work(sql))),
    scrub: () => turns.take(() => settled(() => emptyWal(connection))),
    close: () => turns.take(() => settled(() => connection.close())),
  };
}

/** The WAL has the pages as they were before rows were removed. Who reads it now is not waited for. */
function emptyWal(connection: DatabaseSync): boolean {
  connection.exec('PRAGMA busy_timeout = 0');
  try {
    const result = connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    return result?.['busy'] === 0;
  } finally {
    connection.exec(`PRAGMA busy_timeout = ${BUSY_MILLISECONDS}`);
  }
}

async function transaction<T>(
  connection: DatabaseSync,
  begin: string,
  work: () => Promise<T>,
): Promise<T> {
  guarded(() => connection.exec(begin));
  try {
    const result = await work();
    guarded(() => connection.exec('COMMIT'));
    return result;
  } catch (error) {
    // SQLite has ended the transaction by itself after some errors, such as a full disk.
    if (connection.isTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}

/** Runs one thing after the other: a connection has one transaction at a time. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` after everything that was given before, whatever became of that. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

class SqliteSql implements Sql {
  readonly dialect = 'sqlite';
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(connection: DatabaseSync) {
    this.#connection = connection;
  }

  all(text: string, parameters: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    return settled(() => this.#prepared(text).all(...parameters) as readonly SqlRow[]);
  }

  insert(columns: SqlColumns, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    const { table, names } = columns;
    const places = names.map(() => '?').join(', ');
    const text = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})`;
    return this.#each(`${text}${onConflict(columns)}`, rows);
  }

  remove({ table, names }: SqlColumns, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    const places = names.map((name) => `${name} = ?`).join(' AND ');
    return this.#each(`DELETE FROM ${table} WHERE ${places}`, rows);
  }

  #each(text: string, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    return settled(() => {
      const statement = this.#prepared(text);
      for (const row of rows) statement.run(...row);
    });
  }

  script(text: string): Promise<void> {
    return settled(() => this.#connection.exec(text));
  }

  /** The texts are ours and few. */
  #prepared(text: string): StatementSync {
    const known = this.#statements.get(text) ?? this.#connection.prepare(text);
    this.#statements.set(text, known);
    return known;
  }
}

function settled<T>(run: () => T): Promise<T> {
  return new Promise((resolve) => resolve(guarded(run)));
}

function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof SignerError ? error : unavailable(`SQLite: ${messageOf(error)}`, error);
  }
}
