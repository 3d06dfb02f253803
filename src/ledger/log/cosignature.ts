// SPDX-License-Identifier: Apache-2.0
/**
 * Cosignatures of witnesses, which vouch that a log only grew (C2SP tlog-witness and
 * tlog-cosignature, Ed25519).
 */
import { createPublicKey, verify } from 'node:crypto';
import { quote } from '#base/quote.ts';
import { sha256 } from './merkle.ts';
import { badNote, fromBase64, isKeyName, spkiOf } from './note.ts';

/** The algorithm of timestamped Ed25519 cosignatures, as a key's text and its key ID encode it. */
const COSIGNATURE = 4;
const KEY_ID_BYTES = 4;
const TIME_BYTES = 8;
const PUBLIC_KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/**
 * Length of a decoded cosignature with its key ID. A log's own signature has no time and is
 * shorter.
 */
const COSIGNATURE_BYTES = KEY_ID_BYTES + TIME_BYTES + SIGNATURE_BYTES;
/** Hashes that a client sends at most (C2SP tlog-witness). */
const MAX_HASHES = 63;

/** A witness and the key of its cosignatures. */
export interface WitnessKey {
  readonly name: string;
  /** Ed25519 key, 32 bytes. */
  readonly publicKey: Uint8Array;
}

/**
 * Reads the key of a witness: `<name>+<key ID>+<base64 of 0x04 and key>`.
 *
 * @throws SignerError LEDGER_MALFORMED
 */
export function parseWitnessKey(text: string): WitnessKey {
  const [, name = '', id = '', encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  const bytes = fromBase64(encoded);
  if (isKeyName(name) && bytes?.length === 1 + PUBLIC_KEY_BYTES && bytes[0] === COSIGNATURE) {
    const key = { name, publicKey: bytes.subarray(1) };
    if (Buffer.from(keyId(key)).toString('hex') === id) return key;
  }
  throw badNote(
    `${quote(text)} is not a key of a witness: <name>+<key ID>+<base64>, of an Ed25519 key for cosignatures (0x04)`,
  );
}

/**
 * Returns the body of a request to a witness (C2SP tlog-witness, add-checkpoint).
 * @param older - the size that the witness has cosigned; 0 for none
 * @param proof - shows that the checkpoint's tree begins with that of `older` entries
 * @throws SignerError LEDGER_MALFORMED if the proof is too long
 */
export function addCheckpointBody(
  older: number,
  proof: readonly Uint8Array[],
  checkpoint: string,
): string {
  if (proof.length > MAX_HASHES) throw badNote('the proof is longer than a witness takes');
  const hashes = proof.map((hash) => `${Buffer.from(hash).toString('base64')}\n`);
  return `old ${older}\n${hashes.join('')}\n${checkpoint}`;
}

/** A verified cosignature. */
export interface Cosignature {
  /** The line of the note, with its line feed. */
  readonly line: string;
  /** Time at which the witness saw the checkpoint, in seconds since 1970. */
  readonly time: number;
}

/**
 * Finds the cosignature of `witness` among `lines` of a witness's response or of a note's end.
 * @param text - of the checkpoint, without its signatures and with the line feed at its end
 * @throws SignerError LEDGER_MALFORMED if there is none, or it does not fit the text
 */
export function openCosignature(lines: string, text: string, witness: WitnessKey): Cosignature {
  for (const line of lines.split('\n')) {
    const [, name, encoded = ''] = /^— (\S+) (\S+)$/u.exec(line) ?? [];
    const bytes = name === witness.name ? fromBase64(encoded) : undefined;
    if (
      bytes === undefined ||
      Buffer.compare(bytes.subarray(0, KEY_ID_BYTES), keyId(witness)) !== 0
    )
      continue;
    const time = verifiedTime(bytes, text, witness);
    if (time === undefined) break;
    return { line: `${line}\n`, time };
  }
  throw badNote(`it has no cosignature by ${quote(witness.name)} that fits the checkpoint`);
}

/**
 * Counts the lines of a note that have the length of a cosignature. It verifies none and skips
 * unreadable lines.
 */
export function countCosignatures(note: string): number {
  const lines = note.slice(note.lastIndexOf('\n\n') + 2).split('\n');
  return lines.filter((line) => {
    const [, encoded = ''] = /^— \S+ (\S+)$/u.exec(line) ?? [];
    return fromBase64(encoded)?.length === COSIGNATURE_BYTES;
  }).length;
}

function verifiedTime(bytes: Buffer, text: string, { publicKey }: WitnessKey): number | undefined {
  if (bytes.length !== COSIGNATURE_BYTES) return undefined;
  const time = Number(bytes.readBigUInt64BE(KEY_ID_BYTES));
  const signed = Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);
  const key = createPublicKey({ key: spkiOf(publicKey), format: 'der', type: 'spki' });
  return verify(null, signed, key, bytes.subarray(KEY_ID_BYTES + TIME_BYTES)) ? time : undefined;
}

function keyId({ name, publicKey }: WitnessKey): Buffer {
  const named = Buffer.from(`${name}\n`);
  const hashed = sha256(Buffer.concat([named, Uint8Array.of(COSIGNATURE), publicKey]));
  return Buffer.from(hashed.subarray(0, KEY_ID_BYTES));
}
