// SPDX-License-Identifier: Apache-2.0
/** One round trip for two senders: what nobody waits for goes with what somebody waits for. */
import type { Delay } from '../../ports.ts';
import type { LedgerRecord } from '../records/record.ts';
import type { SendBatch } from './contract.ts';

/** Two ways to the same ledger. */
export interface Together {
  /** Goes at once, and takes with it what waits. */
  readonly now: SendBatch;
  /** Goes with the next batch that goes at once, or alone after {@link ALONE_AFTER_MILLISECONDS}. */
  readonly along: SendBatch;
}

/** A process that is killed loses the results of so long; nobody waits for them meanwhile. */
const ALONE_AFTER_MILLISECONDS = 200;

type Results = Awaited<ReturnType<SendBatch>>;

interface Parcel {
  readonly records: readonly LedgerRecord[];
  readonly done: PromiseWithResolvers<Results>;
}

/** Sends what comes by both ways with `send`. What fails as a whole fails for all that went together. */
export function sendTogether(send: SendBatch, delay: Delay): Together {
  const waiting = new Set<Parcel>();

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
    now: sent,
    along: (records) => {
      const parcel = { records, done: Promise.withResolvers<Results>() };
      waiting.add(parcel);
      // Who gave the parcel hears of it.
      afterAWhile(parcel).catch(() => undefined);
      return parcel.done.promise;
    },
  };
}
