// SPDX-License-Identifier: Apache-2.0
/** The database interface of the ledger, which SQLite and PostgreSQL implement. */
import { SignerError } from '#base/errors.ts';

/** The value of a column. Integers are at most 2^53. */
export type SqlValue = string | number | Uint8Array | null;

/** One row, keyed by the names of its columns. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A table and its columns, for rows that are inserted together. */
export interface SqlColumns {
  readonly table: string;
  readonly names: readonly string[];
  /**
   * Columns that identify a row. An inserted row replaces one with the same key. Without a key, a
   * duplicate is an error.
   */
  readonly key?: readonly string[];
}

/** The statements of one transaction. A question mark stands for a parameter. */
export interface Sql {
  readonly dialect: 'sqlite' | 'postgres';
  all(text: string, parameters?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  insert(columns: SqlColumns, rows: readonly (readonly SqlValue[])[]): Promise<void>;
  /** Removes rows that have exactly these values. */
  remove(columns: SqlColumns, rows: readonly (readonly SqlValue[])[]): Promise<void>;
  /** Runs statements without parameters. */
  script(text: string): Promise<void>;
  /**
   * Runs two steps that do not need each other's results. PostgreSQL gets their statements in one
   * round trip.
   *
   * @throws the first error, when neither step runs any more
   */
  both<A, B>(first: () => Promise<A>, second: () => Promise<B>): Promise<readonly [A, B]>;
}

/** Options of a transaction. */
export interface TransactionOptions {
  /** Lifts the time limit of statements, for a step of the schema or a check of all records. */
  readonly long?: boolean;
}

/**
 * A database. Its errors are SignerErrors with the code LEDGER_UNAVAILABLE. After such an error
 * nothing has changed.
 */
export interface Database {
  /**
   * Runs a transaction that may write. One runs at a time across all processes, and its changes are
   * on disk when the promise resolves. If the connection broke at the end, the promise rejects
   * although the transaction may have committed.
   */
  write<T>(work: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Runs a transaction that sees one state of the database. */
  read<T>(work: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Makes removed data unreadable in the database's own files, without making a caller wait.
   * Returns false while a reader still uses the removed data. The caller then tries again.
   */
  scrub(): Promise<boolean>;
  close(): Promise<void>;
}

/** Returns the ON CONFLICT clause of an insert, or nothing without a key. */
export function onConflict({ names, key }: SqlColumns): string {
  if (key === undefined) return '';
  const others = names.filter((name) => !key.includes(name));
  const taken = others.map((name) => `${name} = EXCLUDED.${name}`).join(', ');
  return ` ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${taken}`;
}

/** Returns a text column. NULL or another type means that another program wrote the database. */
export function textOf(row: SqlRow | undefined, name: string): string {
  const value = row?.[name];
  if (typeof value === 'string') return value;
  throw unavailable(`the column ${name} holds no text`);
}

/** Returns a number column, as {@link textOf} does for text. */
export function numberOf(row: SqlRow | undefined, name: string): number {
  const value = row?.[name];
  if (typeof value === 'number') return value;
  throw unavailable(`the column ${name} holds no number`);
}

/** Returns a bytes column, as {@link textOf} does for text. */
export function bytesOf(row: SqlRow | undefined, name: string): Uint8Array {
  const value = row?.[name];
  if (value instanceof Uint8Array) return value;
  throw unavailable(`the column ${name} holds no bytes`);
}

/** Returns the error for an unusable database. */
export function unavailable(fault: string, cause?: unknown): SignerError {
  const message = `the database of the ledger cannot be used: ${fault}. No record is lost; retrying`;
  return new SignerError({ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message, cause });
}
