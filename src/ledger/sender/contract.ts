// SPDX-License-Identifier: Apache-2.0
/** How a component appends. One of two modes decides what happens while the ledger is away. */
import type { SignerError } from '../../errors.ts';
import type { LedgerRecord } from '../records/record.ts';

/** For each record of a batch, in order: nothing if the ledger has it, else why it is refused. */
export type SendBatch = (
  records: readonly LedgerRecord[],
) => Promise<readonly (SignerError | undefined)[]>;

/** What a component appends through. */
export interface LedgerSender {
  /**
   * In the mode `required`: resolves when the ledger has the record on disk, and rejects with LEDGER_UNAVAILABLE while it
   * is away; the caller repeats it, with the same key. In the mode `best-effort`: resolves at once.
   */
  append(record: LedgerRecord): Promise<void>;
  readonly state: SenderState;
  /** Ends; records that wait in memory are given up, and counted. */
  close(): Promise<void>;
}

/** What a status says of it. */
export interface SenderState {
  readonly mode: 'required' | 'best-effort';
  /** Records that wait for the ledger. */
  readonly waiting: number;
  /** Records of this process that the ledger has not and will not get. */
  readonly lost: number;
  /** Whether the last batch did not reach it. */
  readonly failing: boolean;
}

/** Records a batch: a round trip and a sync of the disk are shared by so many. */
export const BATCH_RECORDS = 256;
