// SPDX-License-Identifier: Apache-2.0
/** Sends deferred records with the next immediate batch, in one round trip. */
import type { Delay } from '#base/ports.ts';
import type { LedgerRecord } from '../records/record.ts';
import type { SendBatch } from './contract.ts';

/** Two senders to the same ledger. */
export interface BatchedSender {
  /** Sends at once, together with all deferred records. */
  readonly sendNow: SendBatch;
  /** Sends with the next immediate batch, or alone after {@link ALONE_AFTER_MILLISECONDS}. */
  readonly sendAlong: SendBatch;
  /** Registers a listener that is called after each immediate batch that the ledger answered. */
  readonly onAnswer: (listener: () => void) => void;
}

/** Longest deferral. A killed process loses the results of this time, for which no caller waits. */
const ALONE_AFTER_MILLISECONDS = 200;

type Results = Awaited<ReturnType<SendBatch>>;

interface Parcel {
  readonly records: readonly LedgerRecord[];
  readonly done: PromiseWithResolvers<Results>;
}

/**
 * Batches the records of both senders into calls of `send`. If a batch fails, all its records fail.
 */
export function batchSends(send: SendBatch, delay: Delay): BatchedSender {
  const waiting = new Set<Parcel>();
  let answered: () => void = () => undefined;

  async function sent(records: readonly LedgerRecord[]): Promise<Results> {
    const parcels = [...waiting];
    waiting.clear();
    try {
      const along = parcels.flatMap((parcel) => parcel.records);
      const results = await send([...records, ...along]);
      let at = records.length;
      for (const parcel of parcels) {
        parcel.done.resolve(results.slice(at, at + parcel.records.length));
        at += parcel.records.length;
      }
      return results.slice(0, records.length);
    } catch (error) {
      for (const { done } of parcels) done.reject(error);
      throw error;
    }
  }

  async function afterAWhile(parcel: Parcel): Promise<void> {
    await delay(ALONE_AFTER_MILLISECONDS);
    if (waiting.has(parcel)) await sent([]);
  }

  return {
    sendNow: async (records) => {
      const results = await sent(records);
      answered();
      return results;
    },
    onAnswer: (listener) => {
      answered = listener;
    },
    sendAlong: (records) => {
      const parcel = { records, done: Promise.withResolvers<Results>() };
      waiting.add(parcel);
      // The caller gets the error from the parcel's own promise.
      afterAWhile(parcel).catch(() => undefined);
      return parcel.done.promise;
    },
  };
}
