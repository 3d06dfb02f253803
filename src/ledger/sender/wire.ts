// SPDX-License-Identifier: Apache-2.0
/** What goes over the wire between a component and the ledger. */
import { z } from 'zod';
import { attempt, SignerError, type ErrorCode } from '../../errors.ts';
import type { LedgerRecord } from '../records/record.ts';

/** Where a batch is posted. */
export const APPEND_PATH = '/v1/append';

/** The audience of the tokens that components append with: the API server takes none of them. */
export const APPEND_AUDIENCE = 'append.ledger.countersign.dev';

/** Bytes of a batch: a record has 2 to 8 KiB, and at most two objects of etcd in base64. */
export const MOST_BATCH_BYTES = 16 * 1024 * 1024;

/** Why the ledger does not keep a record. */
const CODES = ['LEDGER_MALFORMED', 'LEDGER_CONFLICT', 'LEDGER_REFUSED'] as const;

const answer = z.strictObject({
  /** For each record, in order: nothing if the ledger has it. */
  results: z.array(
    z
      .strictObject({ error: z.strictObject({ code: z.enum(CODES), message: z.string() }) })
      .or(z.strictObject({})),
  ),
});

/** The body of an answer. */
export function encodeAnswer(results: readonly (SignerError | undefined)[]): string {
  const listed = results.map((error) =>
    error === undefined ? {} : { error: { code: error.code, message: error.message } },
  );
  return JSON.stringify({ results: listed });
}

/**
 * Reads the answer to a batch.
 *
 * @throws SignerError LEDGER_UNAVAILABLE if it is none
 */
export function readAnswer(
  text: string,
  records: readonly LedgerRecord[],
): readonly (SignerError | undefined)[] {
  const parsed = attempt(() => parse(text));
  if (parsed instanceof SignerError) throw parsed;
  const { success, data } = answer.safeParse(parsed);
  if (!success || data.results.length !== records.length) throw unusable('the answer is none');
  return data.results.map((result, at) => {
    if (!('error' in result)) return undefined;
    const { code, message } = result.error;
    if (code === 'LEDGER_CONFLICT' && isNamedByContents(records[at])) return undefined;
    return new SignerError({ code, disposition: DISPOSITIONS[code], message });
  });
}

const DISPOSITIONS = {
  LEDGER_MALFORMED: 'wait',
  LEDGER_CONFLICT: 'fail',
  LEDGER_REFUSED: 'wait',
} as const satisfies Partial<Record<ErrorCode, string>>;

/**
 * The key of all but a leaf's record says what is in it, without the time: one that is there already, as another process
 * appended it, is this one.
 */
function isNamedByContents(record: LedgerRecord | undefined): boolean {
  return record !== undefined && record.kind !== 'issued' && record.kind !== 'gap';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw unusable('the answer is no JSON', error);
  }
}

/** Of a ledger that does not answer as it must. */
export function unusable(fault: string, cause?: unknown): SignerError {
  const message = `the ledger cannot be reached: ${fault}. It is tried again; see the logs of countersign-ledger`;
  return new SignerError({ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message, cause });
}
