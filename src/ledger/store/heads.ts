// SPDX-License-Identifier: Apache-2.0
/** Heads of logs and their signed checkpoints. */
import { sameBytes } from '#base/bytes.ts';
import { numberOf, textOf, type Sql, type SqlRow } from '../database/database.ts';
import { openCheckpoint, type Checkpoint } from '../log/checkpoint.ts';
import { countCosignatures } from '../log/cosignature.ts';
import { inconsistent, rangeHash } from '../log/tiles.ts';
import { logsOf, tilesOf, type StoredLog } from './logs.ts';

/** The head of a log that no checkpoint covers yet. */
export interface UnsignedHead extends Checkpoint {
  readonly log: number;
  readonly publicKey: Uint8Array;
}

/**
 * Returns a head to sign for each log that has grown since its last checkpoint.
 * @throws SignerError LEDGER_INCONSISTENT if a log does not begin with its last checkpoint
 */
export async function unsignedHeads(sql: Sql): Promise<readonly UnsignedHead[]> {
  const heads: UnsignedHead[] = [];
  for (const log of await logsOf(sql)) {
    const last = await lastCheckpoint(sql, log);
    if (last !== undefined) await mustContinue(sql, log, last);
    if (last?.size === log.size || log.size === 0) continue;
    const root = await rangeHash(tilesOf(sql, log.number), 0, log.size);
    const { origin, publicKey, size } = log;
    heads.push({ log: log.number, origin, publicKey, size, root });
  }
  return heads;
}

/**
 * Checks that a log begins with one of its checkpoints.
 * @throws SignerError LEDGER_INCONSISTENT if not
 */
async function mustContinue(sql: Sql, log: StoredLog, { size, root }: Checkpoint): Promise<void> {
  if (size > log.size) {
    throw inconsistent(`${log.origin} has ${log.size} entries, and a checkpoint has ${size}`);
  }
  const now = await rangeHash(tilesOf(sql, log.number), 0, size);
  if (sameBytes(now, root)) return;
  throw inconsistent(`${log.origin} does not begin with its checkpoint of ${size} entries`);
}

/**
 * Compares the logs with an external checkpoint, such as one kept outside the cluster.
 * @throws SignerError LEDGER_INCONSISTENT, LEDGER_MALFORMED
 */
export async function compareWith(sql: Sql, note: string): Promise<void> {
  const origin = note.slice(0, note.indexOf('\n'));
  const log = (await logsOf(sql)).find((each) => each.origin === origin);
  if (log === undefined) throw inconsistent('a checkpoint names an unknown log');
  await mustContinue(sql, log, openCheckpoint(note, verifierOf(log)));
}

/** Returns the verifier of a log's checkpoints. */
export function verifierOf({ origin, publicKey }: Pick<StoredLog, 'origin' | 'publicKey'>): {
  readonly name: string;
  readonly publicKey: Uint8Array;
} {
  return { name: origin, publicKey };
}

const LAST = 'SELECT note FROM checkpoints WHERE log = ? ORDER BY size DESC LIMIT 1';

/** Returns the note of the last checkpoint of a log. */
export async function lastNote(sql: Sql, log: number): Promise<string | undefined> {
  const [row] = await sql.all(LAST, [log]);
  return row === undefined ? undefined : textOf(row, 'note');
}

/** Returns the notes of a log's checkpoints of more than `size` entries, the oldest first. */
export async function notesAfter(
  sql: Sql,
  log: number,
  size: number,
  limit: number,
): Promise<readonly string[]> {
  const query = 'SELECT note FROM checkpoints WHERE log = ? AND size > ? ORDER BY size LIMIT ?';
  return (await sql.all(query, [log, size, limit])).map((row) => textOf(row, 'note'));
}

async function lastCheckpoint(sql: Sql, log: StoredLog): Promise<Checkpoint | undefined> {
  const note = await lastNote(sql, log.number);
  return note === undefined ? undefined : openCheckpoint(note, verifierOf(log));
}

/** Stores a signed checkpoint. An existing one of the same size stays. */
export async function keepCheckpoint(
  sql: Sql,
  { log, size }: Pick<UnsignedHead, 'log' | 'size'>,
  note: string,
): Promise<void> {
  const insert =
    'INSERT INTO checkpoints (log, size, note) VALUES (?, ?, ?) ON CONFLICT (log, size) DO NOTHING';
  await sql.all(insert, [log, size, note]);
}

/**
 * Adds a witness's line to a stored checkpoint, and replaces an earlier line of the same witness.
 */
export async function cosign(
  sql: Sql,
  { log, size }: Pick<UnsignedHead, 'log' | 'size'>,
  line: string,
): Promise<void> {
  const where = 'WHERE log = ? AND size = ?';
  const [row] = await sql.all(`SELECT note FROM checkpoints ${where}`, [log, size]);
  if (row === undefined) return;
  const signer = line.slice(0, line.lastIndexOf(' ') + 1);
  const lines = textOf(row, 'note').split(/(?<=\n)/);
  const note = [...lines.filter((each) => !each.startsWith(signer)), line].join('');
  await sql.all(`UPDATE checkpoints SET note = ? ${where}`, [note, log, size]);
}

/** The checkpoints of a log to keep beside its first. */
export interface ThinningRule {
  /** Number of the newest checkpoints to keep. */
  readonly newest: number;
  /** Entries for which one older checkpoint stays: the last of those with the most cosignatures. */
  readonly span: number;
}

/**
 * The newest 10,000 cover 14 hours at one each five seconds and take some 3 MB. Older ones take 7
 * bytes for 100 entries. Verifying one takes as long as 40 records.
 */
const KEPT: ThinningRule = { newest: 10_000, span: 4_096 };

/** The result of one call. */
export interface ThinnedCheckpoints {
  readonly removed: number;
  /** Size up to which the log is thinned: the `from` of the next call. */
  readonly next: number;
  /** Whether thinning is complete until the log grows. */
  readonly done: boolean;
}

/**
 * Removes checkpoints of a log that later ones make superfluous, since each kept tree begins with
 * all earlier ones. It examines a span once, when none of its checkpoints is among the newest. The
 * kept checkpoints then stay indefinitely.
 * @param from - size up to which earlier calls examined the log
 */
export async function thinCheckpoints(
  sql: Sql,
  log: number,
  from: number,
  { newest, span }: ThinningRule = KEPT,
): Promise<ThinnedCheckpoints> {
  const ofNewest = 'SELECT size FROM checkpoints WHERE log = ? ORDER BY size DESC LIMIT 1 OFFSET ?';
  const [oldest] = await sql.all(ofNewest, [log, newest - 1]);
  const whole = oldest === undefined ? 0 : startOf(numberOf(oldest, 'size'), span);
  if (whole <= from) return { removed: 0, next: from, done: true };
  const query =
    'SELECT size, note FROM checkpoints WHERE log = ? AND size >= ? AND size < ? ORDER BY size LIMIT ?';
  // Reads one more than a span can have. The span of the last one is left to the next call.
  const rows = await sql.all(query, [log, from, whole, span + 1]);
  const done = rows.length <= span;
  const next = done ? whole : startOf(numberOf(rows.at(-1), 'size'), span);
  const first = numberOf((await sql.all(FIRST_SIZE, [log]))[0], 'size');
  const remove =
    'DELETE FROM checkpoints WHERE log = ? AND size >= ? AND size < ? AND size NOT IN (?, ?)';
  let removed = 0;
  for (const [start, all] of bySpan(rows, span)) {
    const stays = new Set([first, bestOf(all)]);
    const gone = all.filter((row) => !stays.has(numberOf(row, 'size'))).length;
    if (start >= next || gone === 0) continue;
    await sql.all(remove, [log, start, start + span, first, bestOf(all)]);
    removed += gone;
  }
  return { removed, next, done };
}

const FIRST_SIZE = 'SELECT MIN(size) AS size FROM checkpoints WHERE log = ?';

function startOf(size: number, span: number): number {
  return size - (size % span);
}

function bySpan(rows: readonly SqlRow[], span: number): ReadonlyMap<number, readonly SqlRow[]> {
  return Map.groupBy(rows, (row) => startOf(numberOf(row, 'size'), span));
}

/** Returns the size of the checkpoint to keep. */
function bestOf(rows: readonly SqlRow[]): number {
  let [best, most] = [0, -1];
  for (const row of rows) {
    const signed = countCosignatures(textOf(row, 'note'));
    if (signed >= most) [best, most] = [numberOf(row, 'size'), signed];
  }
  return best;
}
