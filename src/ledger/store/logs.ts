// SPDX-License-Identifier: Apache-2.0
/** The logs of a ledger: one a year and key. Only the last is appended to. */
import { sameBytes } from '../../bytes.ts';
import { bytesOf, numberOf, textOf, type SqlRow, type Sql } from '../database/database.ts';
import { ENTRIES_LEVEL, grownTiles, TILE_WIDTH, type ReadTile } from '../log/tiles.ts';

/** One log as the database has it. */
export interface StoredLog {
  readonly number: number;
  /** Of its checkpoints, and the name of its key. */
  readonly origin: string;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly size: number;
  /** When the last record was appended, in milliseconds since 1970. */
  readonly latest: number;
}

/** What names new logs. */
export interface LogNaming {
  /** What the origins of all logs begin with: `countersign.example/ledger`. */
  readonly prefix: string;
  /** Of the key that signs now. Another one than the last log's begins a new log. */
  readonly publicKey: Uint8Array;
  /** A replica that signs nothing goes on with the last log's key, whatever its own is. */
  readonly follows?: boolean;
}

const COLUMNS = 'number, origin, public_key, size, latest';

/** All logs, the oldest first. */
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
 * The log that is appended to at `now`: the last one, or a new one where there is none, another year has begun, or
 * another key signs. Who {@link LogNaming.follows} never begins a log for another key: two replicas that read different
 * keys would else begin one after the other.
 *
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

/** Begins a log after all others; what was appended before is never appended to again. */
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

const TILES = {
  table: 'tiles',
  names: ['log', 'level', 'number', 'hashes'],
  key: ['log', 'level', 'number'],
};

/** Reads the tiles that an append to a log begins with together: its last entries and their leaves. */
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
 *
 * @throws SignerError LEDGER_INCONSISTENT if the tiles are not as the log's size says
 */
export async function appendEntries(
  sql: Sql,
  log: StoredLog,
  entries: readonly Uint8Array[],
): Promise<void> {
  const tiles = await grownTiles(await edgeOf(sql, log), log.size, entries);
  await sql.insert(
    TILES,
    tiles.map(({ level, index, hashes }) => [log.number, level, index, hashes]),
  );
  const size = log.size + entries.length;
  const update = 'UPDATE logs SET size = ?, latest = ? WHERE number = ?';
  await sql.all(update, [size, log.latest, log.number]);
}
