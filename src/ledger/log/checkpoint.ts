// SPDX-License-Identifier: Apache-2.0
/** Checkpoints: a log's size and root, signed (C2SP tlog-checkpoint). */
import { HASH_BYTES, type TreeHead } from './merkle.ts';
import { badNote, fromBase64, openNote, signNote } from './note.ts';
import type { NoteSigner, NoteVerifier } from './note.ts';

/** The head of a log's tree. */
export interface Checkpoint extends TreeHead {
  /** Names the log; also the name of its key. */
  readonly origin: string;
}

/**
 * Signs a tree head as a note.
 * @param signers - the log's own key first. Later keys serve verifiers that know only an earlier
 * log.
 */
export function signCheckpoint(
  { origin, size, root }: Checkpoint,
  ...signers: readonly [NoteSigner, ...NoteSigner[]]
): string {
  return signNote(`${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`, signers);
}

/**
 * Reads a checkpoint that `verifier` signed for the log of the verifier's name.
 * @throws SignerError LEDGER_MALFORMED
 */
export function openCheckpoint(note: string, verifier: NoteVerifier): Checkpoint {
  const [origin = '', size = '', encoded = ''] = openNote(note, [verifier]).text.split('\n');
  const root = fromBase64(encoded);
  if (origin !== verifier.name) throw badNote('the checkpoint is of another log');
  if (!/^(?:0|[1-9]\d{0,15})$/.test(size) || !Number.isSafeInteger(Number(size))) {
    throw badNote('the size in the checkpoint is not a decimal number below 2^53');
  }
  if (root?.length !== HASH_BYTES) throw badNote('the root in the checkpoint has not 32 bytes');
  return { origin, size: Number(size), root };
}
