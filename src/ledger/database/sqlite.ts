// SPDX-License-Identifier: Apache-2.0
/** SQLite through node:sqlite. It blocks its thread, which is a worker's (store/worker.ts). */
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { messageOf, SignerError } from '#base/errors.ts';
import { onConflict, unavailable } from './database.ts';
import { directoryFault } from './directory-fault.ts';
import type { SqlColumns, Database, SqlRow, Sql, SqlValue } from './database.ts';

/** Time that one process waits for another's transaction. A batch takes a few milliseconds. */
const BUSY_MILLISECONDS = 5_000;

/**
 * Pages of 4 KiB after which SQLite copies the WAL into the database: four times its default. Each
 * batch rewrites the right edges of the same trees, so a larger WAL copies them less often. Opening
 * a database after a crash reads up to 16 MiB more.
 */
const WAL_PAGES = 4_000;
/**
 * Size of the page cache. Each record touches a leaf of some fifteen terms, and the default of 2
 * MiB does not hold those of a batch.
 */
const CACHE_KIB = 16 * 1024;

/**
 * With WAL and FULL, each commit ends with fsync of the WAL, so committed data is on disk. Removed
 * rows are overwritten because they hold personal data.
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
 * Opens the file, and creates it if it is absent.
 * @param path - on a disk of this machine: WAL does not work on NFS
 * @param walPages - of the WAL, before SQLite copies them into the file
 * @throws SignerError LEDGER_UNAVAILABLE
 */
export function openSqlite(path: string, walPages = WAL_PAGES): Database {
  const connection = guarded(() => {
    try {
      const opened = new DatabaseSync(path);
      opened.exec(pragmas(walPages));
      return opened;
    } catch (error) {
      const fault = directoryFault(dirname(path));
      if (fault === undefined) throw error;
      throw unavailable(`SQLite: ${messageOf(error)}: ${fault}`, error);
    }
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

/** Truncates the WAL, which still has the pages of removed rows. It does not wait for readers. */
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
    // SQLite has already rolled back after some errors, such as a full disk.
    if (connection.isTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}

/** Runs one task after the other, because a connection has one transaction at a time. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` after all earlier work, whether that failed or not. */
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
    // Values of a row are those that SQLite has: SqlValue without booleans.
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

  /** Runs one step after the other, because SQLite may end the transaction with an error. */
  async both<A, B>(first: () => Promise<A>, second: () => Promise<B>): Promise<readonly [A, B]> {
    return [await first(), await second()];
  }

  /** Returns a prepared statement. It caches all of them, since the program has few. */
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
