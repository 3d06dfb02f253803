// SPDX-License-Identifier: Apache-2.0
/** From a record to the entry of the log. */
import { sha256 } from '../log/merkle.ts';
import { canonicalJson } from './canonical.ts';
import type { RecordBody } from './record.ts';

/** Bytes of a salt. Without it, whoever guesses a removed record could confirm it by the tree. */
export const SALT_BYTES = 32;

/**
 * The canonical bytes that are kept of a record.
 *
 * @throws SignerError LEDGER_MALFORMED
 */
export function bodyBytes(body: RecordBody): Uint8Array {
  return canonicalJson(body);
}

/** The entry: SHA-256 of the salt and what is kept. */
export function entryOf(salt: Uint8Array, body: Uint8Array): Uint8Array {
  return sha256(Buffer.concat([salt, body]));
}
