// SPDX-License-Identifier: Apache-2.0
/** What the ledger needs of a database: the same for SQLite and PostgreSQL. */
import { SignerError } from '../../errors.ts';

/** What a column holds. Integers are at most 2^53. */
export type SqlValue = string | number | Uint8Array | null;

/** One row, by the names of its columns. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A table and its columns, for rows that are inserted together. */
export interface SqlColumns {
  readonly table: string;
  readonly names: readonly string[];
  /** Of these one row has the same: another one takes its place. Default: another one is an error. */
  readonly key?: readonly string[];
}

/** Inside a transaction. A parameter of a statement is a question mark. */
export interface Sql {
  readonly dialect: 'sqlite' | 'postgres';
  all(text: string, parameters?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  insert(columns: SqlColumns, rows: readonly (readonly SqlValue[])[]): Promise<void>;
  /** Removes rows that have exactly these values. */
  remove(columns: SqlColumns, rows: readonly (readonly SqlValue[])[]): Promise<void>;
  /** Statements without parameters. */
  script(text: string): Promise<void>;
}

/** What is said of a transaction. */
export interface TransactionOptions {
  /** Its statements may take as long as they need: a step of the schema, or a check of all records. */
  readonly long?: boolean;
}

/** A database. Its errors are SignerErrors with the code LEDGER_UNAVAILABLE, and nothing was changed then. */
export interface Database {
  /**
   * A transaction that changes something. One runs at a time, of all processes; what it has changed is on disk when
   * this resolves. When it rejects because the connection broke at the end, it may have happened all the same.
   */
  write<T>(work: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** A transaction that sees one state of the database. */
  read<T>(work: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Makes what was removed unreadable in the database's own files, as far as that keeps nobody waiting. False: somebody
   * still reads what was removed; to be tried again.
   */
  scrub(): Promise<boolean>;
  close(): Promise<void>;
}

/** What an insert says of rows that are there already; nothing without a key. */
export function onConflict({ names, key }: SqlColumns): string {
  if (key === undefined) return '';
  const others = names.filter((name) => !key.includes(name));
  const taken = others.map((name) => `${name} = EXCLUDED.${name}`).join(', ');
  return ` ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${taken}`;
}

/** A text column; NULL and other types count as a database that somebody else has written. */
export function textOf(row: SqlRow | undefined, name: string): string {
  const value = row?.[name];
  if (typeof value === 'string') return value;
  throw unavailable(`the column ${name} holds no text`);
}

/** As {@link textOf}, of numbers. */
export function numberOf(row: SqlRow | undefined, name: string): number {
  const value = row?.[name];
  if (typeof value === 'number') return value;
  throw unavailable(`the column ${name} holds no number`);
}

/** As {@link textOf}, of bytes. */
export function bytesOf(row: SqlRow | undefined, name: string): Uint8Array {
  const value = row?.[name];
  if (value instanceof Uint8Array) return value;
  throw unavailable(`the column ${name} holds no bytes`);
}

/** Of a database that cannot be used now. */
export function unavailable(fault: string, cause?: unknown): SignerError {
  const message = `the database of the ledger cannot be used: ${fault}. Nothing is lost; it is tried again`;
  return new SignerError({ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message, cause });
}
