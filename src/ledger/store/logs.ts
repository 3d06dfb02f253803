// SPDX-License-Identifier: Apache-2.0
/** The logs of a ledger, one for each year and key. Only the last one is open. */
import { sameBytes } from '#base/bytes.ts';
import { bytesOf, numberOf, textOf, type SqlRow, type Sql } from '../database/database.ts';
import { HASH_BYTES } from '../log/merkle.ts';
import { idOf, placeOf } from '../records/ids.ts';
import { ENTRIES_LEVEL, grownTiles, TILE_WIDTH, type ReadTile } from '../log/tiles.ts';

/** One log as the database stores it. */
export interface StoredLog {
  readonly number: number;
  /** Origin of its checkpoints, and the name of its key. */
  readonly origin: string;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly size: number;
  /** Time of the last append, in milliseconds since 1970. */
  readonly latest: number;
}

/** Names and keys of new logs. */
export interface LogNaming {
  /** Prefix of all origins: `countersign.example/ledger`. */
  readonly prefix: string;
  /** The current signing key. If the last log has another one, a new log begins. */
  readonly publicKey: Uint8Array;
  /**
   * Set for a replica that does not sign. It continues with the last log's key, whatever its own
   * is.
   */
  readonly follows?: boolean;
}

const COLUMNS = 'number, origin, public_key, size, latest';

/** Returns all logs, the oldest first. */
export async function logsOf(sql: Sql): Promise<readonly StoredLog[]> {
  return (await sql.all(`SELECT ${COLUMNS} FROM logs ORDER BY number`)).map(logOf);
}

function logOf(row: SqlRow): StoredLog {
  return {
    number: numberOf(row, 'number'),
    origin: textOf(row, 'origin'),
    publicKey: bytesOf(row, 'public_key'),
    size: numberOf(row, 'size'),
    latest: numberOf(row, 'latest'),
  };
}

/**
 * Returns the log to append to at `now`: the last one, or a new one. A new log begins if there is
 * none, in another year, or with another key. With {@link LogNaming.follows} another key begins no
 * log. Otherwise two replicas that read different keys would begin one after the other.
 * @param now - milliseconds since 1970
 */
export async function openLog(sql: Sql, naming: LogNaming, now: number): Promise<StoredLog> {
  const [row] = await sql.all(`SELECT ${COLUMNS} FROM logs ORDER BY number DESC LIMIT 1`);
  const last = row === undefined ? undefined : logOf(row);
  const latest = Math.max(now, last?.latest ?? 0);
  const wanted = last === undefined ? naming : followed(naming, last);
  if (last !== undefined && isOpen(last, wanted, latest)) return { ...last, latest };
  return beginLog(sql, wanted, { number: (last?.number ?? 0) + 1, latest });
}

function followed(naming: LogNaming, { publicKey }: StoredLog): LogNaming {
  return naming.follows === true ? { ...naming, publicKey } : naming;
}

function isOpen(last: StoredLog, { publicKey }: LogNaming, now: number): boolean {
  return sameBytes(last.publicKey, publicKey) && yearOf(last.latest) === yearOf(now);
}

function yearOf(time: number): number {
  return new Date(time).getUTCFullYear();
}

/** Begins a log after all others, which are never appended to again. */
async function beginLog(
  sql: Sql,
  { prefix, publicKey }: LogNaming,
  { number, latest }: Pick<StoredLog, 'number' | 'latest'>,
): Promise<StoredLog> {
  const base = `${prefix}/${yearOf(latest)}`;
  const taken = new Set((await logsOf(sql)).map(({ origin }) => origin));
  let origin = base;
  for (let again = 2; taken.has(origin); again += 1) origin = `${base}-${again}`;
  const names = ['number', 'origin', 'public_key', 'size', 'latest'];
  await sql.insert({ table: 'logs', names }, [[number, origin, publicKey, 0, latest]]);
  return { number, origin, publicKey, size: 0, latest };
}

/** Reads tiles of a log inside a transaction. */
export function tilesOf(sql: Sql, log: number): ReadTile {
  return async (level, index) => {
    const query = 'SELECT hashes FROM tiles WHERE log = ? AND level = ? AND number = ?';
    const [row] = await sql.all(query, [log, level, index]);
    return row === undefined ? undefined : bytesOf(row, 'hashes');
  };
}

/** Returns the entries of records by their ids, without those that the logs lack. */
export async function entriesOf(
  sql: Sql,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Uint8Array>> {
  const entries = new Map<number, Uint8Array>();
  const byTile = Map.groupBy(ids, (id) => {
    const { log, index } = placeOf(id);
    return idOf({ log, index: Math.floor(index / TILE_WIDTH) });
  });
  for (const [tile, within] of byTile) {
    const { log, index: number } = placeOf(tile);
    const hashes = await tilesOf(sql, log)(ENTRIES_LEVEL, number);
    for (const id of within) {
      const at = (placeOf(id).index % TILE_WIDTH) * HASH_BYTES;
      const entry = hashes?.subarray(at, at + HASH_BYTES);
      if (entry?.length === HASH_BYTES) entries.set(id, entry);
    }
  }
  return entries;
}

const TILES = {
  table: 'tiles',
  names: ['log', 'level', 'number', 'hashes'],
  key: ['log', 'level', 'number'],
};

/**
 * Reads the tiles that an append to a log needs first in one query: its last entries and their
 * leaves.
 */
async function edgeOf(sql: Sql, { number, size }: StoredLog): Promise<ReadTile> {
  const last = Math.floor(size / TILE_WIDTH);
  const query = 'SELECT level, hashes FROM tiles WHERE log = ? AND number = ? AND level IN (?, 0)';
  const rows = await sql.all(query, [number, last, ENTRIES_LEVEL]);
  const edge = new Map(rows.map((row) => [numberOf(row, 'level'), bytesOf(row, 'hashes')]));
  const others = tilesOf(sql, number);
  return (level, index) => {
    const known = index === last ? edge.get(level) : undefined;
    return known === undefined ? others(level, index) : Promise.resolve(known);
  };
}

/**
 * Appends entries to a log's tree.
 * @throws SignerError LEDGER_INCONSISTENT if the tiles do not match the log's size
 */
export async function appendEntries(
  sql: Sql,
  log: StoredLog,
  entries: readonly Uint8Array[],
): Promise<void> {
  const tiles = await grownTiles(await edgeOf(sql, log), log.size, entries);
  const size = log.size + entries.length;
  const update = 'UPDATE logs SET size = ?, latest = ? WHERE number = ?';
  const rows = tiles.map(({ level, index, hashes }) => [log.number, level, index, hashes]);
  await sql.both(
    () => sql.insert(TILES, rows),
    () => sql.all(update, [size, log.latest, log.number]),
  );
}
