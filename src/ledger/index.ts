// SPDX-License-Identifier: Apache-2.0
/** The room's public interface. README.md lists the files behind it. */
export { LATEST_SCHEMA, migrate } from './database/migrations.ts';
export { openPostgres } from './database/postgres.ts';
export { openSqlite } from './database/sqlite.ts';
export { openCheckpoint, signCheckpoint } from './log/checkpoint.ts';
export { addCheckpointBody, openCosignature, parseWitnessKey } from './log/cosignature.ts';
export type { WitnessKey } from './log/cosignature.ts';
export { openLogList, signLogList } from './log/list.ts';
export { includes, isConsistent } from './log/merkle.ts';
export { formatVerifierKey, noteSigner, parseVerifierKey } from './log/note.ts';
export { consistencyPath, formatProof, inclusionPath } from './log/prove.ts';
export { parseProof, verifyProof } from './log/read-proof.ts';
export { HASH_BYTES } from './log/merkle.ts';
export { inBlocks } from './log/tile-blocks.ts';
export {
  ENTRIES_LEVEL,
  hashesServed,
  parseTilePath,
  servedTile,
  TILE_WIDTH,
  tilePath,
  widthOf,
  type TileRequest,
} from './log/tiles.ts';
export { bodyBytes, SALT_BYTES } from './records/entry.ts';
export { withoutFields } from './records/fields.ts';
export { readRecord, type LedgerRecord, type RecordBody } from './records/record.ts';
export {
  certificateNotAfter,
  namespaceOf,
  type SearchTerm,
  type TermKind,
} from './records/terms.ts';
export { BestEffortSender } from './sender/best-effort.ts';
export { RequiredSender } from './sender/required.ts';
export { createHttpsSender, type HttpsSender } from './sender/https.ts';
export { APPEND_AUDIENCE, APPEND_PATH, encodeAnswer, MAX_BATCH_BYTES } from './sender/wire.ts';
export type { AppendRequest } from './store/append.ts';
export { idOf, idOfName } from './records/ids.ts';
export { contentsOf, type StoredRecord } from './store/search.ts';
export { signedLogList, signHeads, type LedgerKeys, type SignedHead } from './store/sign.ts';
export type { LogNaming, StoredLog } from './store/logs.ts';
export type { SourceRecord, VerifySource } from './store/source.ts';
export type { Removal } from './store/erase.ts';
export { openStore, storeOf, type LedgerStore } from './store/store.ts';
export { verifyLedger, type VerifyReport } from './store/verify.ts';
export type { RecordCursor, RecordQuery } from './store/index-scan.ts';
export { openWorkerStore } from './store/worker-store.ts';
export { isLedgerWorker, runLedgerWorker } from './store/worker.ts';
