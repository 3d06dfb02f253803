// SPDX-License-Identifier: Apache-2.0
/** Reads a proof (C2SP tlog-proof) and verifies it with a key alone, without a ledger. */
import { SignerError } from '#base/errors.ts';
import { quote } from '#base/quote.ts';
import { openCheckpoint, type Checkpoint } from './checkpoint.ts';
import { HASH_BYTES, includes, leafHash, sha256 } from './merkle.ts';
import { fromBase64, type NoteVerifier } from './note.ts';
import type { ProofText } from './prove.ts';

const HEADER = 'c2sp.org/tlog-proof@v1';
const EXTRA = /^extra (.*)$/;
const INDEX = /^index (0|[1-9]\d{0,15})$/;
/** Hashes of a path at most: no tree has more levels (C2SP tlog-proof). */
const MAX_PATH = 63;

/**
 * Reads what `formatProof` writes.
 *
 * @throws SignerError LEDGER_MALFORMED
 */
export function parseProof(text: string): ProofText {
  const end = text.indexOf('\n\n');
  const [header, ...lines] = text.slice(0, Math.max(end, 0)).split('\n');
  if (header !== HEADER) throw malformed(`its first line is not ${quote(HEADER)}`);
  const extra = extraIn(lines[0] ?? '');
  const [index = '', ...hashes] = extra === undefined ? lines : lines.slice(1);
  if (hashes.length > MAX_PATH) throw malformed(`it has more than ${MAX_PATH} hashes`);
  return {
    ...(extra === undefined ? {} : { extra }),
    index: indexIn(index),
    path: hashes.map(hashIn),
    checkpoint: text.slice(end + 2),
  };
}

/** Returns salt and record, or undefined if the line holds something else. */
function extraIn(line: string): Uint8Array | undefined {
  const [, encoded] = EXTRA.exec(line) ?? [];
  if (encoded === undefined) return undefined;
  const bytes = fromBase64(encoded);
  if (bytes === undefined) throw malformed('extra is not base64');
  return bytes;
}

function indexIn(line: string): number {
  const index = Number(INDEX.exec(line)?.[1] ?? NaN);
  if (!Number.isSafeInteger(index)) throw malformed('it has no line with an index');
  return index;
}

function hashIn(line: string): Uint8Array {
  const bytes = fromBase64(line);
  if (bytes?.length !== HASH_BYTES) throw malformed('a hash has not 32 bytes of base64');
  return bytes;
}

/**
 * Verifies a proof.
 * @param keys - of the log, as the verifier noted them elsewhere
 * @param extra - salt and record, if the proof has none
 * @returns the head of the log that has the record
 * @throws SignerError LEDGER_MALFORMED for a head that none of the keys signed; LEDGER_INCONSISTENT
 * for a record that the signed log does not have at the index
 */
export function verifyProof(
  { index, path, checkpoint, extra: own }: ProofText,
  keys: readonly NoteVerifier[],
  extra = own,
): Checkpoint {
  const head = openedBy(checkpoint, keys);
  if (extra === undefined)
    throw malformed('it has neither salt nor record: the record was removed from the ledger');
  if (!includes(leafHash(sha256(extra)), { index, path, size: head.size, root: head.root })) {
    const message = `the log ${quote(head.origin)} has another entry at index ${index} than this record`;
    throw new SignerError({ code: 'LEDGER_INCONSISTENT', disposition: 'wait', message });
  }
  return head;
}

/**
 * Opens a checkpoint with the key of the log that it names. A signature of another log's key proves
 * nothing about this one.
 */
function openedBy(checkpoint: string, keys: readonly NoteVerifier[]): Checkpoint {
  const [origin = ''] = checkpoint.split('\n');
  const key = keys.find(({ name }) => name === origin);
  if (key === undefined)
    throw malformed(`it is of the log ${quote(origin)}, and no key is of that`);
  return openCheckpoint(checkpoint, key);
}

function malformed(fault: string): SignerError {
  const message = `the proof cannot be verified: ${fault}`;
  return new SignerError({ code: 'LEDGER_MALFORMED', disposition: 'wait', message });
}
