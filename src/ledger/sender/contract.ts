// SPDX-License-Identifier: Apache-2.0
/**
 * The interface by which a component appends. One of two modes decides what happens during an
 * outage of the ledger.
 */
import type { SignerError } from '#base/errors.ts';
import type { LedgerRecord } from '../records/record.ts';

/**
 * Sends a batch. For each record in order, the result is undefined if the ledger has it, else the
 * error of its refusal.
 */
export type SendBatch = (
  records: readonly LedgerRecord[],
) => Promise<readonly (SignerError | undefined)[]>;

/** A sender by which a component appends. */
export interface LedgerSender {
  /**
   * Appends a record. In the mode `required` it resolves when the ledger has the record on disk. It
   * rejects with LEDGER_UNAVAILABLE during an outage, and the caller repeats it with the same key.
   * In the mode `best-effort` it resolves at once.
   */
  append(record: LedgerRecord): Promise<void>;
  readonly state: SenderState;
  /** Ends the sender. It drops and counts records that wait in memory. */
  close(): Promise<void>;
}

/** State of a sender for a status. */
export interface SenderState {
  readonly mode: 'required' | 'best-effort';
  /** Records that wait for the ledger. */
  readonly waiting: number;
  /** Records of this process that the ledger does not have and will not get. */
  readonly lost: number;
  /** Whether the last batch did not reach it. */
  readonly failing: boolean;
}

/** Records of a batch, which share a round trip and a sync of the disk. */
export const BATCH_RECORDS = 256;
