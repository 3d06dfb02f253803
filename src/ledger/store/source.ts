// SPDX-License-Identifier: Apache-2.0
/** The data that a check of a ledger reads: its database, or its public interface. */
import { absentRows } from '../database/absent-rows.ts';
import { bytesOf, numberOf, textOf } from '../database/database.ts';
import type { Sql, SqlColumns, SqlRow } from '../database/database.ts';
import { inBlocks, type TileBlock } from '../log/tile-blocks.ts';
import type { ReadTile } from '../log/tiles.ts';
import { idOf } from '../records/ids.ts';
import { logsOf, type StoredLog } from './logs.ts';

/** A record as a check reads it. */
export interface SourceRecord {
  readonly id: number;
  /** Key under which it is stored. */
  readonly key: string;
  readonly kind: string;
  readonly salt: Uint8Array;
  readonly body: Uint8Array;
  /** Index columns beside the record. Absent if the source shows only the record. */
  readonly columns?: { readonly at: number; readonly notAfter: number | null };
}

/** The tables whose rows a check counts and compares. */
export type CheckedTable = 'records' | 'tiles' | 'checkpoints' | 'terms' | 'removals';

/** The rows of a database. */
export interface RowSource {
  /** Returns the steps of the schema that the database lists. */
  schema(): Promise<readonly number[]>;
  /** Returns the rows that the table lacks. */
  absent(
    columns: SqlColumns,
    rows: readonly (readonly (string | number)[])[],
  ): Promise<readonly SqlRow[]>;
  count(table: CheckedTable): Promise<number>;
  /**
   * Returns the sizes under which a log's checkpoints are stored, in the order of
   * {@link VerifySource.notes}.
   */
  sizes(log: number): Promise<readonly number[]>;
}

/** One state of a ledger. */
export interface VerifySource {
  logs(): Promise<readonly StoredLog[]>;
  /** Returns a reader of the tiles, as far as the log's size fills them. */
  tiles(log: StoredLog): ReadTile;
  /** Returns the number of tiles, or undefined if the source does not reveal it. */
  tileCount(log: StoredLog): Promise<number | undefined>;
  /** Returns all signed checkpoints of the log with this number. */
  notes(log: number): Promise<readonly string[]>;
  /**
   * Returns the records of a range of ids, both inclusive, in order. Ids never decrease from one
   * call to the next.
   */
  between(first: number, last: number): Promise<readonly SourceRecord[]>;
  /** Returns the number of records beyond the end of a log. */
  surplus(log: StoredLog): Promise<number>;
  /** Rows of the database. Absent if the source does not read it directly. */
  readonly rows?: RowSource;
}

/** Returns the database as a source, in the transaction of `sql`. */
export function sqlSource(sql: Sql): VerifySource {
  const counted = async (query: string, values: readonly number[]): Promise<number> =>
    numberOf((await sql.all(query, values))[0], 'count');
  return {
    logs: () => logsOf(sql),
    tiles: ({ number }) => inBlocks((block) => tilesBetween(sql, number, block)),
    tileCount: ({ number }) =>
      counted('SELECT COUNT(*) AS count FROM tiles WHERE log = ?', [number]),
    notes: async (log) => {
      const query = 'SELECT note FROM checkpoints WHERE log = ? ORDER BY size';
      return (await sql.all(query, [log])).map((row) => textOf(row, 'note'));
    },
    between: async (first, last) => {
      const query =
        'SELECT id, record_key, kind, at, not_after, salt, body FROM records WHERE id BETWEEN ? AND ? ORDER BY id';
      return (await sql.all(query, [first, last])).map((row) => ({
        id: numberOf(row, 'id'),
        key: textOf(row, 'record_key'),
        kind: textOf(row, 'kind'),
        salt: bytesOf(row, 'salt'),
        body: bytesOf(row, 'body'),
        columns: {
          at: numberOf(row, 'at'),
          notAfter: row['not_after'] === null ? null : numberOf(row, 'not_after'),
        },
      }));
    },
    surplus: ({ number, size }) =>
      counted('SELECT COUNT(*) AS count FROM records WHERE id >= ? AND id < ?', [
        idOf({ log: number, index: size }),
        idOf({ log: number + 1, index: 0 }),
      ]),
    rows: rowsOf(sql),
  };
}

function rowsOf(sql: Sql): RowSource {
  const numbers = async (query: string, values: readonly number[]): Promise<readonly number[]> =>
    (await sql.all(query, values)).map((row) => numberOf(row, 'number'));
  return {
    schema: () => numbers('SELECT number FROM migrations ORDER BY number', []),
    absent: (columns, rows) => absentRows(sql, columns, rows),
    count: async (table) => (await numbers(`SELECT COUNT(*) AS number FROM ${table}`, []))[0] ?? 0,
    sizes: (log) =>
      numbers('SELECT size AS number FROM checkpoints WHERE log = ? ORDER BY size', [log]),
  };
}

async function tilesBetween(
  sql: Sql,
  log: number,
  { level, first, count }: TileBlock,
): Promise<readonly (Uint8Array | undefined)[]> {
  const query =
    'SELECT number, hashes FROM tiles WHERE log = ? AND level = ? AND number BETWEEN ? AND ?';
  const rows = await sql.all(query, [log, level, first, first + count - 1]);
  const byNumber = new Map(rows.map((row) => [numberOf(row, 'number'), bytesOf(row, 'hashes')]));
  return Array.from({ length: count }, (_, at) => byNumber.get(first + at));
}
