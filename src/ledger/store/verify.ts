// SPDX-License-Identifier: Apache-2.0
/** Verifies all stored data of a ledger: trees, checkpoints, and every record against its leaf. */
import { sameBytes } from '#base/bytes.ts';
import { attempt, SignerError } from '#base/errors.ts';
import { openCheckpoint } from '../log/checkpoint.ts';
import { HASH_BYTES } from '../log/merkle.ts';
import type { NoteVerifier } from '../log/note.ts';
import { entryOf } from '../records/entry.ts';
import type { RecordBody } from '../records/record.ts';
import { rangeHash, type ReadTile } from '../log/tiles.ts';
import { Findings, type LedgerFinding } from './findings.ts';
import { verifierOf } from './heads.ts';
import { idOf, placeOf } from '../records/ids.ts';
import type { StoredLog } from './logs.ts';
import { Removals, type RemovedCounts } from './removals.ts';
import type { SourceRecord, VerifySource } from './source.ts';
import { ColumnChecks } from './verify-columns.ts';
import { verifyTiles } from './verify-tiles.ts';

/** The result of a check. */
export interface VerifyReport {
  readonly logs: number;
  readonly entries: number;
  readonly records: number;
  /** Number of removed records, by the reason in the record of their removal. */
  readonly erased: RemovedCounts;
  readonly checkpoints: number;
  /** The first findings. */
  readonly findings: readonly LedgerFinding[];
  /** Total number of findings. */
  readonly found: number;
}

/** External evidence for a check of a ledger. */
export interface ExternalTrust {
  /** External checkpoints. Only they reveal that a whole ledger was replaced. */
  readonly outside: readonly string[];
  /**
   * Keys of logs. If there are any, the check ignores the ledger's own statements about its keys.
   */
  readonly keys?: readonly NoteVerifier[];
}

/** Checks one state of a ledger by computing every hash again. */
export async function verifyLedger(
  source: VerifySource,
  { outside, keys = [] }: ExternalTrust,
): Promise<VerifyReport> {
  const logs = await source.logs();
  const findings = new Findings();
  const [counts, removals] = [{ records: 0, checkpoints: 0 }, new Removals()];
  const columns = await columnsOf(source, findings);
  const checks = { findings, removals, columns };
  for (const log of logs) {
    requireKey(log, keys, findings);
    counts.checkpoints += await verifyCheckpoints(source, log, outside, checks);
    counts.records += await verifyEntries(source, log, checks);
  }
  await columns?.surplus();
  for (const note of outside) requireLog(note, logs, findings);
  const { left, counts: erased } = removals.explained();
  for (const { first, last } of left) {
    const [from, to] = [placeOf(first), placeOf(last).index];
    const log = logs.find(({ number }) => number === from.log);
    const entries = `the entries ${from.index} to ${to}`;
    if (log !== undefined) {
      findings.add('missing', log, `there is no record for ${entries}, and none of their removal`);
    }
  }
  return {
    logs: logs.length,
    entries: logs.reduce((sum, { size }) => sum + size, 0),
    ...counts,
    erased,
    findings: findings.listed,
    found: findings.found,
  };
}

/** Returns undefined if the source reads no database, or one with another schema. */
async function columnsOf(
  { rows }: VerifySource,
  findings: Findings,
): Promise<ColumnChecks | undefined> {
  if (rows === undefined) return undefined;
  const columns = new ColumnChecks(rows, findings);
  return (await columns.schema()) ? columns : undefined;
}

function requireKey(log: StoredLog, keys: readonly NoteVerifier[], findings: Findings): void {
  const isKnown = keys.some(
    ({ name, publicKey }) => name === log.origin && sameBytes(publicKey, log.publicKey),
  );
  if (keys.length === 0 || isKnown) return;
  findings.add('checkpoint', log, 'the log is signed by none of the keys that were given');
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

/** Checks that the log's key signed each checkpoint and that its root matches the current tree. */
async function verifyCheckpoints(
  source: VerifySource,
  log: StoredLog,
  outside: readonly string[],
  { findings, columns }: RecordChecks,
): Promise<number> {
  const kept = await source.notes(log.number);
  const notes = [...kept, ...outside.filter((note) => originOf(note) === log.origin)];
  const read = source.tiles(log);
  const sizes: (number | undefined)[] = [];
  for (const note of notes) {
    const head = attempt(() => openCheckpoint(note, verifierOf(log)));
    sizes.push(head instanceof SignerError ? undefined : head.size);
    if (head instanceof SignerError) {
      findings.add('checkpoint', log, head.message);
    } else if (head.size > log.size) {
      findings.add(
        'checkpoint',
        log,
        `it covers ${head.size} entries, and the log has ${log.size}`,
      );
    } else if (!sameBytes(await rootAt(read, head.size), head.root)) {
      findings.add('checkpoint', log, `the log does not begin with it (${head.size} entries)`);
    }
  }
  await columns?.checkpoints(log, sizes);
  return notes.length;
}

async function rootAt(read: ReadTile, size: number): Promise<Uint8Array | undefined> {
  try {
    return await rangeHash(read, 0, size);
  } catch (error) {
    if (error instanceof SignerError && error.code === 'LEDGER_INCONSISTENT') return undefined;
    throw error;
  }
}

interface RecordChecks {
  readonly findings: Findings;
  readonly removals: Removals;
  readonly columns: ColumnChecks | undefined;
}

/**
 * Checks the tree of a log and every record against its entry, in one pass. Returns the number of
 * records.
 */
async function verifyEntries(
  source: VerifySource,
  log: StoredLog,
  checks: RecordChecks,
): Promise<number> {
  let records = 0;
  await verifyTiles(source, log, checks.findings, async ({ first, width, hashes }) => {
    const idAt = (index: number): number => idOf({ log: log.number, index });
    const found = await source.between(idAt(first), idAt(first + width - 1));
    const present = new Map(found.map((each) => [placeOf(each.id).index, each]));
    for (let at = 0; at < width; at += 1) {
      const record = present.get(first + at);
      const entry = hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES);
      if (record === undefined) checks.removals.missing(idAt(first + at));
      else await verifyRecord(log, record, { ...checks, index: first + at, entry });
    }
    await checks.columns?.flush(log);
    records += found.length;
  });
  await verifyRows(source, log, records, checks);
  const surplus = await source.surplus(log);
  if (surplus > 0)
    checks.findings.add('record', log, `${surplus} records have no entry in the log`);
  return records;
}

/** Compares the other rows of a log in the database. */
async function verifyRows(
  source: VerifySource,
  log: StoredLog,
  records: number,
  { columns }: RecordChecks,
): Promise<void> {
  if (columns === undefined) return;
  columns.log(log);
  columns.counted('records', records + (await source.surplus(log)));
  columns.counted('tiles', (await source.tileCount(log)) ?? 0);
}

interface OneRecord extends RecordChecks {
  readonly index: number;
  /** Entry of the record. Empty if the log has none. */
  readonly entry: Uint8Array;
}

async function verifyRecord(
  log: StoredLog,
  stored: SourceRecord,
  { findings, removals, columns, index, entry }: OneRecord,
): Promise<void> {
  const { salt, body, kind } = stored;
  if (!sameBytes(entryOf(salt, body), entry)) {
    findings.add('record', log, `the record ${index} does not match the hash in its entry`);
    return;
  }
  if (columns === undefined && kind !== 'erased') return;
  // The hash covers the text, so the append has already checked its shape.
  const contents = JSON.parse(Buffer.from(body).toString('utf8')) as RecordBody;
  await columns?.record(log, stored, contents);
  if (contents.record.kind === 'erased') removals.add(contents.record);
}
