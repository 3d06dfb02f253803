// SPDX-License-Identifier: Apache-2.0
/** Sends batches to the ledger over HTTPS, with the token of this component. */
import { printable } from '#base/quote.ts';
import type { LedgerRecord } from '../records/record.ts';
import { createLedgerConnection, type LedgerAddress } from './connection.ts';
import type { SendBatch } from './contract.ts';
import { APPEND_PATH, MAX_BATCH_BYTES, notTaken, readAnswer } from './wire.ts';

/** Time after which an unanswered batch is resent. One transaction takes milliseconds. */
const TIMEOUT_MILLISECONDS = 15_000;
/** Bytes of a response at most, which has up to a sentence about each record. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Bytes of the brackets around a batch. */
const BRACKETS = 2;
/** Characters of the ledger's own reason. */
const MAX_ERROR_LENGTH = 200;

/** A sender and the function that closes its connections. */
export interface HttpsSender {
  readonly send: SendBatch;
  readonly close: () => void;
}

/** Returns a sender with a connection of its own. */
export function createHttpsSender(address: LedgerAddress): HttpsSender {
  const { call, close } = createLedgerConnection(address);

  async function post(body: string): Promise<string> {
    const { status, text } = await call({
      method: 'POST',
      path: APPEND_PATH,
      body,
      maxBytes: MAX_ANSWER_BYTES,
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
    if (status === 200) return text;
    throw notTaken(status, printable(text.slice(0, MAX_ERROR_LENGTH).trim()));
  }

  return {
    send: async (records) => {
      const results = [];
      for (const part of partsOf(records)) {
        const answer = await post(`[${part.texts.join(',')}]`);
        results.push(...readAnswer(answer, part.records));
      }
      return results;
    },
    close,
  };
}

interface Part {
  readonly records: LedgerRecord[];
  readonly texts: string[];
  bytes: number;
}

/** Splits a batch into as few parts as the size limit allows: one, unless the requests are huge. */
function partsOf(records: readonly LedgerRecord[]): readonly Part[] {
  const parts: Part[] = [];
  for (const record of records) {
    const text = JSON.stringify(record);
    const bytes = Buffer.byteLength(text) + 1;
    let part = parts.at(-1);
    if (part === undefined || part.bytes + bytes > MAX_BATCH_BYTES) {
      part = { records: [], texts: [], bytes: BRACKETS };
      parts.push(part);
    }
    part.records.push(record);
    part.texts.push(text);
    part.bytes += bytes;
  }
  return parts;
}
