// SPDX-License-Identifier: Apache-2.0
/** Checks everything that a ledger has stored: trees, checkpoints, and every record against its leaf. */
import { sameBytes } from '../../bytes.ts';
import { attempt, SignerError } from '../../errors.ts';
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
    counts.checkpoints += await verifyCheckpoints(source, log, outside, findings);
    counts.records += await verifyEntries(source, log, { findings, removals });
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

/** Checks the tree of a log and every record against its entry, in one pass. Returns how many records there are. */
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
      else verifyRecord(log, record, { ...checks, index: first + at, entry });
    }
    records += found.length;
  });
  const surplus = await source.surplus(log);
  if (surplus > 0)
    checks.findings.add('record', log, `${surplus} records have no entry in the log`);
  return records;
}

interface OneRecord extends RecordChecks {
  readonly index: number;
  /** Empty where the log has none. */
  readonly entry: Uint8Array;
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
  if (kind !== 'erased' && isPlainlyOf(body, { key, kind })) return;
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

const KEY = Buffer.from('"key":"');

/**
 * Whether a record has this key and kind, as its bytes say without being parsed, which takes longer than its hash. In
 * canonical bytes `kind` follows `key`, and each record has both; where a name or a text within it spells the same once
 * more, this is false, and whoever asks parses it.
 */
function isPlainlyOf(body: Uint8Array, { key, kind }: Pick<SourceRecord, 'key' | 'kind'>): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const at = bytes.indexOf(KEY);
  if (bytes.includes(KEY, at + 1)) return false;
  const expected = Buffer.from(`"key":${JSON.stringify(key)},"kind":"${kind}"`);
  return at >= 0 && bytes.subarray(at, at + expected.length).equals(expected);
}
