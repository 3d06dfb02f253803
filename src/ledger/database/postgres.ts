// SPDX-License-Identifier: Apache-2.0
/** PostgreSQL through the package pg. */
import pg from 'pg';
import { messageOf, SignerError } from '#base/errors.ts';
import { onConflict, unavailable } from './database.ts';
import { postgresConnection, type PostgresSecurity } from './postgres-url.ts';
import type {
  SqlColumns,
  Database,
  SqlRow,
  Sql,
  SqlValue,
  TransactionOptions,
} from './database.ts';

/** Connections of the pool: one writes, the others read and search. */
const POOLED = 4;
/**
 * Parameters of one statement. The protocol's Bind message counts them in 16 bits: 65,535 at most.
 */
const PARAMETERS = 60_000;
/**
 * Key of the advisory lock that lets one transaction write at a time. The number is arbitrary. It
 * must never change: replicas of two versions would write at the same time.
 */
const LOCK = 119_187_403_466_098;
/** Connection timeout. The caller then retries the batch. */
const CONNECT_MILLISECONDS = 10_000;

/**
 * Statement timeout. A statement takes milliseconds, including the wait for the writer's lock. It
 * is below the 15 s after which a component resends its batch, so that the component receives the
 * reason. The server times out first and keeps the connection. The client times out later, in case
 * the server hangs, and closes the connection.
 */
const STATEMENT_MILLISECONDS = 8_000;
const HUNG_MILLISECONDS = 10_000;
/** Timeout of an idle writer, whose lock would block all others. */
const IDLE_TRANSACTION_MS = 60_000;

/** Object identifiers (pg_type) of int8, which count and min also return, and of text. */
const INT8 = 20;
const TEXT = 25;

/**
 * Returns a database that connects on first use.
 * @param url - `postgresql://…`. It may hold a password, which no message repeats.
 * @throws SignerError USAGE for another URL
 */
export function openPostgres(url: string, security?: PostgresSecurity): Database {
  const pool = new pg.Pool({
    ...postgresConnection(url, security),
    max: POOLED,
    connectionTimeoutMillis: CONNECT_MILLISECONDS,
    statement_timeout: STATEMENT_MILLISECONDS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    // Sends statements that do not need each other's results in one round trip.
    pipeline: true,
    // Detects, during long statements, a server that vanished without closing its connections.
    keepAlive: true,
    // Lets the process end although a server does not answer the closing message.
    allowExitOnIdle: true,
    types: typesOf(),
    // Overrides the server's default, so that a committed transaction is on disk.
    options: '-c synchronous_commit=on',
  });
  // An idle connection failed. The pool opens another one for the next query.
  pool.on('error', () => undefined);
  return {
    write: (work, options) => transaction(pool, { begin: 'BEGIN', locks: true, ...options }, work),
    read: (work, options) => transaction(pool, { begin: READ, locks: false, ...options }, work),
    // Autovacuum of the server does this. A VACUUM would occupy this connection for minutes.
    scrub: () => Promise.resolve(true),
    close: () => pool.end(),
  };
}

/** Reads int8 as a number, because all values here are below 2^53. */
function typesOf(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, Number);
  types.setTypeParser(TEXT, unescaped);
  return types;
}

/**
 * Escapes U+0000, which Kubernetes allows in a text and PostgreSQL does not (documentation §8.3).
 * U+0001 followed by `0` or `1` stands for U+0000 or U+0001.
 */
function escaped(text: string): string {
  return CONTROLS.test(text) ? text.replace(/\p{Cc}/gu, (each) => ESCAPED[each] ?? each) : text;
}

function unescaped(text: string): string {
  return text.replace(/\p{Cc}[01]/gu, (each) => UNESCAPED[each] ?? each);
}

/** Control characters, which few texts have. */
const CONTROLS = /\p{Cc}/u;
const ESCAPED: Readonly<Record<string, string>> = { '\0': '\u00010', '\u0001': '\u00011' };
const UNESCAPED: Readonly<Record<string, string>> = { '\u00010': '\0', '\u00011': '\u0001' };

const READ = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

interface Transaction extends TransactionOptions {
  readonly begin: string;
  readonly locks: boolean;
}

async function transaction<T>(
  pool: pg.Pool,
  { begin, locks, long = false }: Transaction,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const connection = await guarded(() => pool.connect());
  let broken: Error | undefined;
  const onError = (error: Error): void => {
    broken = error;
  };
  connection.on('error', onError);
  const sql = new PostgresSql(connection);
  try {
    const lock = locks ? [`SELECT pg_advisory_xact_lock(${LOCK})`] : [];
    if (long) {
      await sql.beginLong(begin);
      for (const each of lock) await sql.script(each);
    } else await sql.script([begin, ...lock].join('; '));
    const result = await work(sql);
    await sql.script('COMMIT');
    return result;
  } catch (error) {
    broken ??= sql.broken;
    if (broken === undefined)
      await sql.script('ROLLBACK').catch((fault: unknown) => {
        broken ??= fault instanceof Error ? fault : new Error(messageOf(fault));
      });
    throw error;
  } finally {
    // Closes a broken connection. The server rolls its transaction back.
    connection.removeListener('error', onError);
    connection.release(broken);
  }
}

class PostgresSql implements Sql {
  readonly dialect = 'postgres';
  readonly #connection: pg.PoolClient;
  #isLong = false;
  /** The number of statements that are sent and not answered. */
  #pending = 0;
  /** The first error. Later statements fail because of it, and their errors do not name it. */
  #failure: SignerError | undefined;
  /** The error that broke this connection: one that the server did not return as its answer. */
  broken: Error | undefined;

  constructor(connection: pg.PoolClient) {
    this.#connection = connection;
  }

  /** Begins a transaction, and lifts the time limit of its statements. */
  async beginLong(begin: string): Promise<void> {
    await this.script(`${begin}; SET LOCAL statement_timeout = 0`);
    this.#isLong = true;
  }

  async all(text: string, parameters: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    let number = 0;
    const numbered = text.replace(/\?/g, () => `$${(number += 1)}`);
    const values = parameters.map(sent);
    return (await this.#query(numbered, values)).rows;
  }

  insert(columns: SqlColumns, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    const { table, names } = columns;
    const head = `INSERT INTO ${table} (${names.join(', ')}) VALUES`;
    const taken = onConflict(columns);
    return this.#inParts(names.length, rows, (places) => `${head} ${places}${taken}`);
  }

  remove({ table, names }: SqlColumns, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    const head = `DELETE FROM ${table} WHERE (${names.join(', ')}) IN`;
    return this.#inParts(names.length, rows, (places) => `${head} (${places})`);
  }

  async #inParts(
    width: number,
    rows: readonly (readonly SqlValue[])[],
    textOf: (places: string) => string,
  ): Promise<void> {
    const most = Math.floor(PARAMETERS / width);
    const place = `(${Array.from({ length: width }, () => '?').join(', ')})`;
    for (let at = 0; at < rows.length; at += most) {
      const part = rows.slice(at, at + most);
      await this.all(textOf(part.map(() => place).join(', ')), part.flat());
    }
  }

  async script(text: string): Promise<void> {
    await this.#query(text);
  }

  async both<A, B>(first: () => Promise<A>, second: () => Promise<B>): Promise<readonly [A, B]> {
    const steps = [first(), second()] as const;
    const results = Promise.all(steps);
    // A step that runs on after the rollback would write outside the transaction.
    await results.catch(() => Promise.allSettled(steps));
    return results;
  }

  async #query(text: string, values?: ReturnType<typeof sent>[]): Promise<pg.QueryResult<SqlRow>> {
    const query: BoundedQuery = {
      text,
      ...(values === undefined ? {} : { values }),
      // The server runs statements one after another, and pg counts from sending one.
      ...(this.#isLong
        ? {}
        : { query_timeout: HUNG_MILLISECONDS + this.#pending * STATEMENT_MILLISECONDS }),
    };
    this.#pending += 1;
    try {
      return await this.#connection.query<SqlRow>(query);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError))
        this.broken = error instanceof Error ? error : new Error(messageOf(error));
      throw (this.#failure ??= unavailable(`PostgreSQL: ${messageOf(error)}`, error));
    } finally {
      this.#pending -= 1;
    }
  }
}

/**
 * A query with a timeout. pg accepts it for each query (client.js, query), but its types only allow
 * it for a connection.
 */
interface BoundedQuery extends pg.QueryConfig {
  readonly query_timeout?: number;
}

/** Converts bytes to a Buffer. pg sends a Buffer as bytea, but any other Uint8Array as text. */
function sent(value: SqlValue): string | number | Buffer | null {
  if (typeof value === 'string') return escaped(value);
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : value;
}

async function guarded<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof SignerError) throw error;
    throw unavailable(`PostgreSQL: ${messageOf(error)}`, error);
  }
}
