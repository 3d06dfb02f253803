// SPDX-License-Identifier: Apache-2.0
/** What a check of a ledger reads: its database, or what it shows to others. */
import { bytesOf, numberOf, textOf, type Sql } from '../database/database.ts';
import { inBlocks, type TileBlock } from '../log/tile-blocks.ts';
import type { ReadTile } from '../log/tiles.ts';
import { idOf } from '../records/ids.ts';
import { logsOf, type StoredLog } from './logs.ts';

/** A record as a check sees it. */
export interface SourceRecord {
  readonly id: number;
  /** By what it is kept. */
  readonly key: string;
  readonly kind: string;
  readonly salt: Uint8Array;
  readonly body: Uint8Array;
}

/** One state of a ledger. */
export interface VerifySource {
  logs(): Promise<readonly StoredLog[]>;
  /** Tiles as far as the log's size fills them. */
  tiles(log: StoredLog): ReadTile;
  /** How many there are; undefined where nobody can say. */
  tileCount(log: StoredLog): Promise<number | undefined>;
  /** All checkpoints of a log that it has signed, by its number. */
  notes(log: number): Promise<readonly string[]>;
  /** The records with ids from one to another, both inclusive, in order. Is called with ids that never fall. */
  between(first: number, last: number): Promise<readonly SourceRecord[]>;
  /** How many records are behind the end of a log. */
  surplus(log: StoredLog): Promise<number>;
}

/** The database, in the transaction of `sql`. */
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
        'SELECT id, record_key, kind, salt, body FROM records WHERE id BETWEEN ? AND ? ORDER BY id';
      return (await sql.all(query, [first, last])).map((row) => ({
        ...{ id: numberOf(row, 'id'), key: textOf(row, 'record_key'), kind: textOf(row, 'kind') },
        ...{ salt: bytesOf(row, 'salt'), body: bytesOf(row, 'body') },
      }));
    },
    surplus: ({ number, size }) =>
      counted('SELECT COUNT(*) AS count FROM records WHERE id >= ? AND id < ?', [
        idOf({ log: number, index: size }),
        idOf({ log: number + 1, index: 0 }),
      ]),
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
