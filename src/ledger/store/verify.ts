// SPDX-License-Identifier: Apache-2.0
/** Checks everything that a ledger has stored: trees, checkpoints, and every record against its leaf. */
import { sameBytes } from '../../bytes.ts';
import { attempt, SignerError } from '../../errors.ts';
import { openCheckpoint } from '../log/checkpoint.ts';
import { HASH_BYTES } from '../log/merkle.ts';
import type { NoteVerifier } from '../log/note.ts';
import { entryOf } from '../records/entry.ts';
import type { RecordBody } from '../records/record.ts';
import { ENTRIES_LEVEL, rangeHash, type ReadTile } from '../log/tiles.ts';
import { Findings, type LedgerFinding } from './findings.ts';
import { verifierOf } from './heads.ts';
import { idOf, placeOf } from './ids.ts';
import type { StoredLog } from './logs.ts';
import { Removals, type RemovedCounts } from './removals.ts';
import type { SourceRecord, VerifySource } from './source.ts';
import { verifyTiles } from './verify-tiles.ts';

/** What a check has found. */
export interface VerifyReport {
  readonly logs: number;
  readonly entries: number;
  readonly records: number;
  /** Records that were removed, by the reason in the record of their removal. */
  readonly erased: RemovedCounts;
  readonly checkpoints: number;
  /** The first of them. */
  readonly findings: readonly LedgerFinding[];
  /** How many there are. */
  readonly found: number;
}

/** Records that are read together. */
const READ_TOGETHER = 1024;

/** What a check of a ledger is held against. */
export interface KeptElsewhere {
  /** Checkpoints: only they show that a whole ledger was replaced. */
  readonly outside: readonly string[];
  /** Keys of logs; where there are some, what a ledger says of its keys counts nothing. */
  readonly keys?: readonly NoteVerifier[];
}

/** Checks one state of a ledger: every hash is computed anew. */
export async function verifyLedger(
  source: VerifySource,
  { outside, keys = [] }: KeptElsewhere,
): Promise<VerifyReport> {
  const logs = await source.logs();
  const findings = new Findings();
  const [counts, removals] = [{ records: 0, checkpoints: 0 }, new Removals()];
  for (const log of logs) {
    requireKey(log, keys, findings);
    await verifyTiles(source, log, findings);
    counts.checkpoints += await verifyCheckpoints(source, log, outside, findings);
    counts.records += await verifyRecords(source, log, { findings, removals });
  }
  for (const note of outside) requireLog(note, logs, findings);
  const { left, counts: erased } = removals.explained();
  for (const { first, last } of left) {
    const [from, to] = [placeOf(first), placeOf(last).index];
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
    erased,
    findings: findings.listed,
    found: findings.found,
  };
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

/** Each checkpoint must be signed by the log's key and have the root of the tree as it is now. */
async function verifyCheckpoints(
  source: VerifySource,
  log: StoredLog,
  outside: readonly string[],
  findings: Findings,
): Promise<number> {
  const kept = await source.notes(log.number);
  const notes = [...kept, ...outside.filter((note) => originOf(note) === log.origin)];
  const read = source.tiles(log);
  for (const note of notes) {
    const head = attempt(() => openCheckpoint(note, verifierOf(log)));
    if (head instanceof SignerError) {
      findings.add('checkpoint', log, head.message);
    } else if (head.size > log.size) {
      findings.add('checkpoint', log, `it says ${head.size} entries, and the log has ${log.size}`);
    } else if (!sameBytes(await rootAt(read, head.size), head.root)) {
      findings.add('checkpoint', log, `the log does not begin with it (${head.size} entries)`);
    }
  }
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
}

async function verifyRecords(
  source: VerifySource,
  log: StoredLog,
  checks: RecordChecks,
): Promise<number> {
  const read = source.tiles(log);
  let records = 0;
  for (let from = 0; from < log.size; from += READ_TOGETHER) {
    const to = Math.min(from + READ_TOGETHER, log.size) - 1;
    const [first, last] = [from, to].map((index) => idOf({ log: log.number, index }));
    const found = await source.between(first ?? 0, last ?? 0);
    const entries = await entriesBetween(read, from, to);
    const present = new Map(found.map((each) => [placeOf(each.id).index, each]));
    for (let index = from; index <= to; index += 1) {
      const record = present.get(index);
      if (record === undefined) checks.removals.missing(idOf({ log: log.number, index }));
      else verifyRecord(log, record, { ...checks, index, entry: entries.get(index) });
    }
    records += found.length;
  }
  const surplus = await source.surplus(log);
  if (surplus > 0)
    checks.findings.add('record', log, `${surplus} records have no entry in the log`);
  return records;
}

async function entriesBetween(
  read: ReadTile,
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
  { salt, body, key, kind }: SourceRecord,
  { findings, removals, index, entry }: OneRecord,
): void {
  if (!sameBytes(entryOf(salt, body), entry)) {
    findings.add('record', log, `the record ${index} is not what its entry is the hash of`);
    return;
  }
  // The hash covers the text, so its shape was checked when it was appended.
  const { record } = JSON.parse(Buffer.from(body).toString('utf8')) as RecordBody;
  if (record.key !== key || record.kind !== kind) {
    findings.add(
      'record',
      log,
      `the record ${index} is kept under another key or kind than it has`,
    );
  }
  if (record.kind === 'erased') removals.add(record);
}
