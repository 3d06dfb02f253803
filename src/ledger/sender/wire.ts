// SPDX-License-Identifier: Apache-2.0
/** The wire format between a component and the ledger. */
import * as z from 'zod';
import { attempt, SignerError, type ErrorCode } from '#base/errors.ts';
import type { LedgerRecord } from '../records/record.ts';

/** Path to which a component posts a batch. */
export const APPEND_PATH = '/v1/append';

/** Audience of the tokens with which components append and read. The API server rejects them. */
export const APPEND_AUDIENCE = 'append.ledger.countersign.dev';

/** Bytes of a batch at most. A record has 2 to 8 KiB, and at most two objects of etcd in base64. */
export const MAX_BATCH_BYTES = 16 * 1024 * 1024;

/** Codes with which the ledger refuses a record. */
const CODES = ['LEDGER_MALFORMED', 'LEDGER_CONFLICT', 'LEDGER_REFUSED'] as const;

const answer = z.strictObject({
  /** Result of each record, in order: empty if the ledger has it. */
  results: z.array(
    z
      .strictObject({ error: z.strictObject({ code: z.enum(CODES), message: z.string() }) })
      .or(z.strictObject({})),
  ),
});

/** Encodes the body of a response. */
export function encodeAnswer(results: readonly (SignerError | undefined)[]): string {
  const listed = results.map((error) =>
    error === undefined ? {} : { error: { code: error.code, message: error.message } },
  );
  return JSON.stringify({ results: listed });
}

/**
 * Reads the response to a batch.
 * @throws SignerError LEDGER_UNAVAILABLE if it is malformed
 */
export function readAnswer(
  text: string,
  records: readonly LedgerRecord[],
): readonly (SignerError | undefined)[] {
  const parsed = attempt(() => parseJson(text));
  if (parsed instanceof SignerError) throw parsed;
  const { success, data } = answer.safeParse(parsed);
  if (!success || data.results.length !== records.length) throw unusable('the answer is malformed');
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
 * Reports whether the record's key identifies its contents, apart from the time. An existing record
 * with this key, appended by another process, then counts as the same. Keys of leaf certificates
 * and gaps do not.
 */
function isNamedByContents(record: LedgerRecord | undefined): boolean {
  return record !== undefined && record.kind !== 'issued' && record.kind !== 'gap';
}

/** @throws SignerError LEDGER_UNAVAILABLE if it is not JSON */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch (error) {
    throw unusable('the answer is not JSON', error);
  }
}

/** Returns the error for a ledger that sends no valid response. */
export function unusable(fault: string, cause?: unknown): SignerError {
  const message = `the ledger cannot be reached: ${fault}; retrying, see the logs of countersign-ledger`;
  return new SignerError({ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message, cause });
}

/** Returns the error for a ledger that rejects the batch. */
export function notTaken(status: number, reason: string): SignerError {
  const message = `the ledger takes no records now: ${reason} (HTTP ${status}); retrying, see the logs of countersign-ledger`;
  return new SignerError({ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message });
}
