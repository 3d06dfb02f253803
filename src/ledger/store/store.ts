// SPDX-License-Identifier: Apache-2.0
/** A ledger over a database. Each call is one transaction. */
import type { Database, Sql } from '../database/database.ts';
import { migrate } from '../database/migrations.ts';
import { openCheckpoint } from '../log/checkpoint.ts';
import { inclusionPath, type ProofText } from '../log/prove.ts';
import {
  appendBatch,
  type AppendResult,
  type AppendContext,
  type AppendRequest,
} from './append.ts';
import { eraseRecords, removalOf } from './erase.ts';
import type { ErasureResult, Eraser, Erasure, Removal } from './erase.ts';
import { compareWith, cosign, keepCheckpoint, lastNote, notesAfter } from './heads.ts';
import { thinCheckpoints, unsignedHeads, verifierOf } from './heads.ts';
import type { ThinnedCheckpoints, ThinningRule, UnsignedHead } from './heads.ts';
import { placeOf } from '../records/ids.ts';
import { logsOf, tilesOf, type StoredLog } from './logs.ts';
import { findRecords, recordAt, recordedOf, recordsAfter, resultsOf } from './search.ts';
import type { RecordPage, StoredRecord } from './search.ts';
import type { RecordQuery } from './index-scan.ts';
import { sqlSource } from './source.ts';
import { verifyLedger, type ExternalTrust, type VerifyReport } from './verify.ts';

/**
 * The operations of a ledger. They reject with LEDGER_UNAVAILABLE during an outage of the database,
 * and with LEDGER_INCONSISTENT if stored data contradicts itself.
 */
export interface LedgerStore {
  /** Appends a batch. The returned records are on disk. */
  append(batch: readonly AppendRequest[], context: AppendContext): Promise<readonly AppendResult[]>;
  /** Returns the heads of logs to sign. */
  unsignedHeads(): Promise<readonly UnsignedHead[]>;
  keepCheckpoint(head: Pick<UnsignedHead, 'log' | 'size'>, note: string): Promise<void>;
  /** Stores the line of a witness with a checkpoint. */
  cosign(head: Pick<UnsignedHead, 'log' | 'size'>, line: string): Promise<void>;
  /** Rejects if the ledger does not continue an external checkpoint. */
  compareWith(note: string): Promise<void>;
  logs(): Promise<readonly StoredLog[]>;
  checkpoint(log: number): Promise<string | undefined>;
  tile(log: number, level: number, index: number): Promise<Uint8Array | undefined>;
  find(query: RecordQuery): Promise<RecordPage>;
  /** Returns the results of certificates, by the keys of their records. */
  results(keys: readonly string[]): Promise<readonly StoredRecord[]>;
  /**
   * Returns those of the certificates, by fingerprint, that were ever appended, even if their
   * records were erased.
   */
  recorded(fingerprints: readonly string[]): Promise<readonly string[]>;
  /** Returns the checkpoints of a log of more than `size` entries, the oldest first. */
  checkpoints(log: number, size: number, limit: number): Promise<readonly string[]>;
  /** Removes checkpoints of a log that later ones make superfluous, starting at a size. */
  thin(log: number, from: number, rule?: ThinningRule): Promise<ThinnedCheckpoints>;
  get(id: number): Promise<StoredRecord | undefined>;
  /** Returns records in the order of appending. */
  after(id: number, limit: number): Promise<readonly StoredRecord[]>;
  /** Returns a proof for external verifiers, or undefined while no checkpoint covers the record. */
  prove(id: number): Promise<ProofText | undefined>;
  erase(erasure: Erasure, eraser: Eraser): Promise<ErasureResult>;
  /** Returns the removal of the record with this id, or undefined if the log has none. */
  removal(id: number): Promise<Removal | undefined>;
  /**
   * Makes removed data unreadable in the files of the database, without blocking other callers.
   * Returns false if the caller must try again.
   */
  scrub(): Promise<boolean>;
  verify(outside: readonly string[], keys?: ExternalTrust['keys']): Promise<VerifyReport>;
  close(): Promise<void>;
}

/** Opens a ledger after migrating its schema. */
export async function openStore(database: Database): Promise<LedgerStore> {
  await migrate(database);
  return storeOf(database);
}

/** Returns a ledger whose schema is already up to date. */
export function storeOf(database: Database): LedgerStore {
  const reading = <T>(work: (sql: Sql) => Promise<T>): Promise<T> => database.read(work);
  const writing = <T>(work: (sql: Sql) => Promise<T>): Promise<T> => database.write(work);
  return {
    append: (batch, context) => writing((sql) => appendBatch(sql, batch, context)),
    unsignedHeads: () => reading(unsignedHeads),
    keepCheckpoint: (head, note) => writing((sql) => keepCheckpoint(sql, head, note)),
    cosign: (head, line) => writing((sql) => cosign(sql, head, line)),
    compareWith: (note) => reading((sql) => compareWith(sql, note)),
    logs: () => reading(logsOf),
    checkpoint: (log) => reading((sql) => lastNote(sql, log)),
    tile: (log, level, index) => reading((sql) => tilesOf(sql, log)(level, index)),
    find: (query) => reading((sql) => findRecords(sql, query)),
    recorded: (fingerprints) => reading((sql) => recordedOf(sql, fingerprints)),
    results: (keys) => reading((sql) => resultsOf(sql, keys)),
    checkpoints: (log, size, limit) => reading((sql) => notesAfter(sql, log, size, limit)),
    thin: (log, from, rule) => writing((sql) => thinCheckpoints(sql, log, from, rule)),
    get: (id) => reading((sql) => recordAt(sql, id)),
    after: (id, limit) => reading((sql) => recordsAfter(sql, id, limit)),
    prove: (id) => reading((sql) => prove(sql, id)),
    erase: (erasure, eraser) => writing((sql) => eraseRecords(sql, erasure, eraser)),
    removal: (id) => reading((sql) => removalOf(sql, id)),
    scrub: () => database.scrub(),
    verify: (outside, keys = []) =>
      database.read((sql) => verifyLedger(sqlSource(sql), { outside, keys }), { long: true }),
    close: () => database.close(),
  };
}

async function prove(sql: Sql, id: number): Promise<ProofText | undefined> {
  const record = await recordAt(sql, id);
  const { log: number, index } = placeOf(id);
  const log = (await logsOf(sql)).find((each) => each.number === number);
  const checkpoint = await lastNote(sql, number);
  if (record === undefined || log === undefined || checkpoint === undefined) return undefined;
  const { size } = openCheckpoint(checkpoint, verifierOf(log));
  if (index >= size) return undefined;
  const path = await inclusionPath(tilesOf(sql, number), index, size);
  return { extra: Buffer.concat([record.salt, record.body]), index, path, checkpoint };
}
