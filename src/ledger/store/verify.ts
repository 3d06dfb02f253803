// SPDX-License-Identifier: Apache-2.0
/** Checks everything that a ledger has stored: trees, checkpoints, and every record against its leaf. */
import { sameBytes } from '../../bytes.ts';
import { attempt, SignerError } from '../../errors.ts';
import { bytesOf, numberOf, textOf, type SqlRow, type Sql } from '../database/database.ts';
import { openCheckpoint } from '../log/checkpoint.ts';
import { HASH_BYTES } from '../log/merkle.ts';
import { entryOf } from '../records/entry.ts';
import type { RecordBody } from '../records/record.ts';
import { ENTRIES_LEVEL, rangeHash } from '../log/tiles.ts';
import { Findings, type LedgerFinding } from './findings.ts';
import { verifierOf } from './heads.ts';
import { idOf, placeOf } from './ids.ts';
import { logsOf, tilesOf, type StoredLog } from './logs.ts';
import { Removals } from './removals.ts';
import { verifyTiles } from './verify-tiles.ts';

/** What a check has found. */
export interface VerifyReport {
  readonly logs: number;
  readonly entries: number;
  readonly records: number;
  readonly erased: number;
  readonly checkpoints: number;
  /** The first of them. */
  readonly findings: readonly LedgerFinding[];
  /** How many there are. */
  readonly found: number;
}

/** Records that are read together. */
const READ_TOGETHER = 1024;

/**
 * Checks a ledger in one transaction that reads.
 *
 * @param outside - checkpoints that were kept elsewhere: only they show that a whole ledger was replaced
 */
export async function verifyLedger(
  sql: Sql,
  outside: readonly string[] = [],
): Promise<VerifyReport> {
  const logs = await logsOf(sql);
  const findings = new Findings();
  const [counts, removals] = [{ records: 0, checkpoints: 0 }, new Removals()];
  for (const log of logs) {
    await verifyTiles(sql, log, findings);
    counts.checkpoints += await verifyCheckpoints(sql, log, outside, findings);
    counts.records += await verifyRecords(sql, log, { findings, removals });
  }
  for (const note of outside) requireLog(note, logs, findings);
  let lost = 0;
  for (const { first, last } of removals.unexplained()) {
    const [from, to] = [placeOf(first), placeOf(last).index];
    lost += to - from.index + 1;
    const log = logs.find(({ number }) => number === from.log);
    const entries = `the entries ${from.index} to ${to}`;
    if (log !== undefined) {
      findings.add('missing', log, `no record is kept for ${entries}, and none of their removal`);
    }
  }
  return {
    logs: logs.length,
    entries: logs.reduce((sum, { size }) => sum + size, 0),
    ...counts,
    erased: removals.count - lost,
    findings: findings.listed,
    found: findings.found,
  };
}

function requireLog(note: string, logs: readonly StoredLog[], findings: Findings): void {
  const origin = originOf(note);
  if (logs.some((log) => log.origin === origin)) return;
  const nowhere = { origin, publicKey: new Uint8Array(), number: 0, size: 0, latest: 0 };
  findings.add(
    'checkpoint',
    nowhere,
    'a checkpoint that was kept elsewhere is of no log of this ledger',
  );
}

function originOf(note: string): string {
  return note.slice(0, Math.max(0, note.indexOf('\n')));
}

/** Each checkpoint must be signed by the log's key and have the root of the tree as it is now. */
async function verifyCheckpoints(
  sql: Sql,
  log: StoredLog,
  outside: readonly string[],
  findings: Findings,
): Promise<number> {
  const query = 'SELECT note FROM checkpoints WHERE log = ? ORDER BY size';
  const kept = (await sql.all(query, [log.number])).map((row) => textOf(row, 'note'));
  const notes = [...kept, ...outside.filter((note) => originOf(note) === log.origin)];
  for (const note of notes) {
    const head = attempt(() => openCheckpoint(note, verifierOf(log)));
    if (head instanceof SignerError) {
      findings.add('checkpoint', log, head.message);
    } else if (head.size > log.size) {
      findings.add('checkpoint', log, `it says ${head.size} entries, and the log has ${log.size}`);
    } else if (!sameBytes(await rootAt(sql, log, head.size), head.root)) {
      findings.add('checkpoint', log, `the log does not begin with it (${head.size} entries)`);
    }
  }
  return notes.length;
}

async function rootAt(sql: Sql, log: StoredLog, size: number): Promise<Uint8Array | undefined> {
  try {
    return await rangeHash(tilesOf(sql, log.number), 0, size);
  } catch (error) {
    if (error instanceof SignerError && error.code === 'LEDGER_INCONSISTENT') return undefined;
    throw error;
  }
}

interface RecordChecks {
  readonly findings: Findings;
  readonly removals: Removals;
}

async function verifyRecords(sql: Sql, log: StoredLog, checks: RecordChecks): Promise<number> {
  const read = tilesOf(sql, log.number);
  const query =
    'SELECT id, record_key, kind, salt, body FROM records WHERE id BETWEEN ? AND ? ORDER BY id';
  let records = 0;
  for (let from = 0; from < log.size; from += READ_TOGETHER) {
    const to = Math.min(from + READ_TOGETHER, log.size) - 1;
    const ids = [idOf({ log: log.number, index: from }), idOf({ log: log.number, index: to })];
    const rows = await sql.all(query, ids);
    const entries = await entriesBetween(read, from, to);
    const present = new Map(rows.map((row) => [placeOf(numberOf(row, 'id')).index, row]));
    for (let index = from; index <= to; index += 1) {
      const row = present.get(index);
      if (row === undefined) checks.removals.missing(idOf({ log: log.number, index }));
      else verifyRecord(log, row, { ...checks, index, entry: entries.get(index) });
    }
    records += rows.length;
  }
  const beyond = await sql.all('SELECT COUNT(*) AS count FROM records WHERE id >= ? AND id < ?', [
    idOf({ log: log.number, index: log.size }),
    idOf({ log: log.number + 1, index: 0 }),
  ]);
  const surplus = numberOf(beyond[0], 'count');
  if (surplus > 0)
    checks.findings.add('record', log, `${surplus} records have no entry in the log`);
  return records;
}

async function entriesBetween(
  read: ReturnType<typeof tilesOf>,
  from: number,
  to: number,
): Promise<ReadonlyMap<number, Uint8Array>> {
  const entries = new Map<number, Uint8Array>();
  const width = 256;
  for (let tile = Math.floor(from / width); tile <= Math.floor(to / width); tile += 1) {
    const hashes = (await read(ENTRIES_LEVEL, tile)) ?? new Uint8Array();
    for (let at = 0; at * HASH_BYTES < hashes.length; at += 1) {
      entries.set(tile * width + at, hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES));
    }
  }
  return entries;
}

interface OneRecord extends RecordChecks {
  readonly index: number;
  readonly entry: Uint8Array | undefined;
}

function verifyRecord(
  log: StoredLog,
  row: SqlRow,
  { findings, removals, index, entry }: OneRecord,
): void {
  const body = bytesOf(row, 'body');
  if (!sameBytes(entryOf(bytesOf(row, 'salt'), body), entry)) {
    findings.add('record', log, `the record ${index} is not what its entry is the hash of`);
    return;
  }
  // The hash covers the text, so its shape was checked when it was appended.
  const { record } = JSON.parse(Buffer.from(body).toString('utf8')) as RecordBody;
  if (record.key !== textOf(row, 'record_key') || record.kind !== textOf(row, 'kind')) {
    findings.add(
      'record',
      log,
      `the record ${index} is kept under another key or kind than it has`,
    );
  }
  if (record.kind === 'erased') removals.add(record);
}
