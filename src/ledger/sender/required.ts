// SPDX-License-Identifier: Apache-2.0
/** The mode `required`: appending waits for the ledger, and records in flight share a batch. */
import { SignerError } from '#base/errors.ts';
import type { Delay } from '#base/ports.ts';
import type { LedgerRecord } from '../records/record.ts';
import { BATCH_RECORDS } from './contract.ts';
import type { LedgerSender, SendBatch, SenderState } from './contract.ts';

interface PendingRecord {
  readonly record: LedgerRecord;
  readonly done: PromiseWithResolvers<undefined>;
}

/**
 * Size of the last batch from which on requests count as a burst. The next batch then waits for as
 * many. A round trip and a transaction cost ten times what one more record does.
 */
const A_BURST = 4;
/**
 * Longest wait for more records: longer after a larger batch, in which a record takes less time. A
 * certificate takes at least five times as long under such a load.
 */
const GATHER_MS_A_RECORD = 1.25;
const MAX_GATHER_MS = 25;
/** Abort reason, made once. Node would otherwise make one with a stack trace each time. */
const GATHERED = new Error('the batch is complete');

/** A sender without whose record no certificate is issued. See {@link LedgerSender}. */
export class RequiredSender implements LedgerSender {
  readonly #send: SendBatch;
  readonly #delay: Delay;
  readonly #waiting: PendingRecord[] = [];
  /** Size of the last batch. */
  #last = 0;
  /** Called when as many records wait as the last batch had. */
  #onGathered: () => void = () => undefined;
  #running: Promise<void> | undefined;
  #failing = false;
  #closed = false;

  constructor(send: SendBatch, delay: Delay) {
    this.#send = send;
    this.#delay = delay;
  }

  get state(): SenderState {
    return { mode: 'required', waiting: this.#waiting.length, lost: 0, failing: this.#failing };
  }

  append(record: LedgerRecord): Promise<void> {
    if (this.#closed) return Promise.reject(ended());
    const done = Promise.withResolvers<undefined>();
    this.#waiting.push({ record, done });
    if (this.#waiting.length >= this.#last) this.#onGathered();
    this.#running ??= this.#run();
    return done.promise;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#onGathered();
    await this.#running;
  }

  /** Sends batches. While one is on its way, the next one gathers. */
  async #run(): Promise<void> {
    // Collects the records of this turn of the event loop into one batch.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      if (this.#isBurst()) await this.#gathered();
      const batch = this.#waiting.splice(0, BATCH_RECORDS);
      this.#last = batch.length;
      const results = await this.#attempt(batch.map(({ record }) => record));
      for (const [at, { done }] of batch.entries()) {
        const refusal = results[at];
        if (refusal === undefined) done.resolve(undefined);
        else done.reject(refusal);
      }
    }
    this.#running = undefined;
  }

  /** Reports whether more records will probably come within milliseconds. */
  #isBurst(): boolean {
    return this.#last >= A_BURST && this.#waiting.length < this.#last && !this.#closed;
  }

  /** Resolves when as many records wait as the last batch had, or after a timeout. */
  async #gathered(): Promise<void> {
    const patience = new AbortController();
    this.#onGathered = () => patience.abort(GATHERED);
    const wait = Math.min(MAX_GATHER_MS, GATHER_MS_A_RECORD * this.#last);
    await this.#delay(wait, patience.signal).catch(() => undefined);
    this.#onGathered = () => undefined;
  }

  async #attempt(records: readonly LedgerRecord[]): Promise<readonly (SignerError | undefined)[]> {
    try {
      const results = await this.#send(records);
      this.#failing = false;
      return results;
    } catch (error) {
      this.#failing = true;
      const refusal = error instanceof SignerError ? error : away(error);
      return records.map(() => refusal);
    }
  }
}

function away(cause: unknown): SignerError {
  const message =
    'the ledger cannot be reached: no certificate is issued without a record; retrying';
  return new SignerError({ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message, cause });
}

function ended(): SignerError {
  const message = 'this process is ending: another one appends the record';
  return new SignerError({ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message });
}
