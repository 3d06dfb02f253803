// SPDX-License-Identifier: Apache-2.0
/** The entry of a record in the log. */
import { sha256 } from '../log/merkle.ts';
import { canonicalJson } from './canonical.ts';
import type { RecordBody } from './record.ts';

/**
 * Bytes of a salt. Without it, an attacker who guesses a removed record could confirm the guess by
 * the tree.
 */
export const SALT_BYTES = 32;

/**
 * Returns the canonical bytes that the ledger keeps of a record.
 * @throws SignerError LEDGER_MALFORMED
 */
export function bodyBytes(body: RecordBody): Uint8Array {
  return canonicalJson(body);
}

/** Returns the entry: SHA-256 of the salt and the kept bytes. */
export function entryOf(salt: Uint8Array, body: Uint8Array): Uint8Array {
  return sha256(Buffer.concat([salt, body]));
}
