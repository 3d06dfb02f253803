// SPDX-License-Identifier: Apache-2.0
/** PostgreSQL by pg. */
import pg from 'pg';
import { messageOf, SignerError } from '../../errors.ts';
import { unavailable } from './database.ts';
import { postgresConnection, type PostgresSecurity } from './postgres-url.ts';
import type { SqlColumns, Database, SqlRow, Sql, SqlValue } from './database.ts';

/** One writes, the others read and search. */
const POOLED = 4;
/** A statement has at most 65,535 parameters (the protocol's Bind message counts them in 16 bits). */
const PARAMETERS = 60_000;
/** Of the advisory lock that lets one transaction write at a time: the bytes of "ledger". */
const LOCK = 119_187_403_466_098;
/** An unreachable server is noticed; the batch is tried again. */
const CONNECT_MILLISECONDS = 10_000;

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
    types: typesOf(),
    // Whatever the server's default is: what is committed is on disk.
    options: '-c synchronous_commit=on',
  });
  // Of a connection that waits for work: the next one is opened when there is some.
  pool.on('error', () => undefined);
  return {
    write: (work) =>
      transaction(pool, 'BEGIN', async (sql) => {
        await sql.all('SELECT pg_advisory_xact_lock(?)', [LOCK]);
        return work(sql);
      }),
    read: (work) => transaction(pool, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work),
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
  return text.replace(/\p{Cc}/gu, (each) => ESCAPED[each] ?? each);
}

function unescaped(text: string): string {
  return text.replace(/\p{Cc}[01]/gu, (each) => UNESCAPED[each] ?? each);
}

const ESCAPED: Readonly<Record<string, string>> = { '\0': '\u00010', '\u0001': '\u00011' };
const UNESCAPED: Readonly<Record<string, string>> = { '\u00010': '\0', '\u00011': '\u0001' };

async function transaction<T>(
  pool: pg.Pool,
  begin: string,
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
    const result = await work(sql);
    await sql.script('COMMIT');
    return result;
  } catch (error) {
    await connection.query('ROLLBACK').catch((fault: unknown) => {
      broken ??= fault instanceof Error ? fault : new Error(messageOf(fault));
    });
    throw error;
  } finally {
    connection.removeListener('error', onError);
    connection.release(broken);
  }
}

class PostgresSql implements Sql {
  readonly dialect = 'postgres';
  readonly #connection: pg.PoolClient;

  constructor(connection: pg.PoolClient) {
    this.#connection = connection;
  }

  async all(text: string, parameters: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    let number = 0;
    const numbered = text.replace(/\?/g, () => `$${(number += 1)}`);
    const values = parameters.map(sent);
    return guarded(async () => (await this.#connection.query<SqlRow>(numbered, values)).rows);
  }

  insert({ table, names }: SqlColumns, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    const head = `INSERT INTO ${table} (${names.join(', ')}) VALUES`;
    return this.#inParts(names.length, rows, (places) => `${head} ${places}`);
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
    await guarded(() => this.#connection.query(text));
  }
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
