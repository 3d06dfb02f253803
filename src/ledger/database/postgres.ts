// SPDX-License-Identifier: Apache-2.0
/** PostgreSQL by pg. */
import pg from 'pg';
import { messageOf, SignerError } from '../../errors.ts';
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

/** One writes, the others read and search. */
const POOLED = 4;
/** A statement has at most 65,535 parameters (the protocol's Bind message counts them in 16 bits). */
const PARAMETERS = 60_000;
/** Of the advisory lock that lets one transaction write at a time: the bytes of "ledger". */
const LOCK = 119_187_403_466_098;
/** An unreachable server is noticed; the batch is tried again. */
const CONNECT_MILLISECONDS = 10_000;

/**
 * A statement of ours takes milliseconds, and one that waits for the writer's lock some of those. Below the 15 s after which
 * a component sends its batch again, so that it is told why. The server gives up first, and keeps the connection; one that is
 * hung is given up by us.
 */
const STATEMENT_MILLISECONDS = 8_000;
const HUNG_MILLISECONDS = 10_000;
/** Of a writer that is stopped: its lock would keep all others waiting. */
const IDLE_IN_TRANSACTION_MILLISECONDS = 60_000;

/** Object identifiers of int8, also of count's and min's results, and of text (pg_type). */
const INT8 = 20;
const TEXT = 25;

/**
 * Connects when it is first used.
 *
 * @param url - `postgresql://…`; it may hold a password, which no message repeats
 * @throws SignerError USAGE for another URL
 */
export function openPostgres(url: string, security?: PostgresSecurity): Database {
  const pool = new pg.Pool({
    ...postgresConnection(url, security),
    max: POOLED,
    connectionTimeoutMillis: CONNECT_MILLISECONDS,
    statement_timeout: STATEMENT_MILLISECONDS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MILLISECONDS,
    // Of long statements: a server that has vanished does not close its connections.
    keepAlive: true,
    // A server that does not answer a goodbye must not keep the process from ending.
    allowExitOnIdle: true,
    types: typesOf(),
    // Whatever the server's default is: what is committed is on disk.
    options: '-c synchronous_commit=on',
  });
  // Of a connection that waits for work: the next one is opened when there is some.
  pool.on('error', () => undefined);
  return {
    write: (work, options) => transaction(pool, { begin: 'BEGIN', locks: true, ...options }, work),
    read: (work, options) => transaction(pool, { begin: READ, locks: false, ...options }, work),
    // VACUUM is the server's own business (autovacuum): it would keep this connection for minutes.
    scrub: () => Promise.resolve(true),
    close: () => pool.end(),
  };
}

/** int8 as a number: all of ours are below 2^53. */
function typesOf(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, Number);
  types.setTypeParser(TEXT, unescaped);
  return types;
}

/**
 * A text of PostgreSQL holds no U+0000 (documentation §8.3), and one of Kubernetes may: `1` and `0` after U+0001 say which
 * of the two is meant.
 */
function escaped(text: string): string {
  return CONTROLS.test(text) ? text.replace(/\p{Cc}/gu, (each) => ESCAPED[each] ?? each) : text;
}

function unescaped(text: string): string {
  return text.replace(/\p{Cc}[01]/gu, (each) => UNESCAPED[each] ?? each);
}

/** Few texts have one. */
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
    await sql.script(begin);
    if (long) await sql.waitForLong();
    if (locks) await sql.all('SELECT pg_advisory_xact_lock(?)', [LOCK]);
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
    // A broken one is closed; what it was doing is undone by the server.
    connection.removeListener('error', onError);
    connection.release(broken);
  }
}

class PostgresSql implements Sql {
  readonly dialect = 'postgres';
  readonly #connection: pg.PoolClient;
  /** After which a statement is given up. */
  #milliseconds: number | undefined = HUNG_MILLISECONDS;
  /** Why nothing more can be asked by this connection: an error that is no answer of the server. */
  broken: Error | undefined;

  constructor(connection: pg.PoolClient) {
    this.#connection = connection;
  }

  /** From now on to the end of the transaction statements take as long as they need. */
  async waitForLong(): Promise<void> {
    await this.script('SET LOCAL statement_timeout = 0');
    this.#milliseconds = undefined;
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

  async #query(text: string, values?: ReturnType<typeof sent>[]): Promise<pg.QueryResult<SqlRow>> {
    const query: BoundedQuery = {
      text,
      ...(values === undefined ? {} : { values }),
      ...(this.#milliseconds === undefined ? {} : { query_timeout: this.#milliseconds }),
    };
    try {
      return await this.#connection.query<SqlRow>(query);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError))
        this.broken = error instanceof Error ? error : new Error(messageOf(error));
      throw unavailable(`PostgreSQL: ${messageOf(error)}`, error);
    }
  }
}

/** pg takes it for each query (client.js, query), and its types only for a connection. */
interface BoundedQuery extends pg.QueryConfig {
  readonly query_timeout?: number;
}

/** pg takes Buffers for bytea; of another Uint8Array it would send the text. */
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
