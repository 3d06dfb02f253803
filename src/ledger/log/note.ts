// SPDX-License-Identifier: Apache-2.0
/** Signed notes (C2SP signed-note) with Ed25519 keys. */
import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { sameBytes } from '#base/bytes.ts';
import { SignerError } from '#base/errors.ts';
import { quote } from '#base/quote.ts';
import { sha256 } from './merkle.ts';

/** The algorithm Ed25519, as a key's text and its key ID encode it. */
const ED25519 = 1;
const KEY_ID_BYTES = 4;
const PUBLIC_KEY_BYTES = 32;
/** SubjectPublicKeyInfo of Ed25519 up to the key (RFC 8410 §4). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
/** Characters of a note at most. A note holds a checkpoint or a list of logs. */
const MAX_CHARACTERS = 1024 * 1024;

/** A public key that verifies notes. */
export interface NoteVerifier {
  readonly name: string;
  /** Ed25519 key, 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** A key that signs notes. */
export interface NoteSigner extends NoteVerifier {
  readonly privateKey: KeyObject;
}

/**
 * Returns the signer of an Ed25519 key.
 * @param name - of the key: no blank, no plus sign
 * @param privateKey - Ed25519
 * @throws SignerError LEDGER_MALFORMED
 */
export function noteSigner(name: string, privateKey: KeyObject): NoteSigner {
  if (privateKey.asymmetricKeyType !== 'ed25519') {
    throw badNote(`the key ${quote(name)} is not an Ed25519 key`);
  }
  if (!isKeyName(name)) throw badNote(`${quote(name)} cannot be the name of a key`);
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  return { name, privateKey, publicKey: spki.subarray(SPKI_HEAD.length) };
}

/** Formats a key as verifiers exchange it: `<name>+<key ID>+<base64 of algorithm and key>`. */
export function formatVerifierKey({ name, publicKey }: NoteVerifier): string {
  const id = Buffer.from(keyId({ name, publicKey })).toString('hex');
  return `${name}+${id}+${Buffer.from([ED25519, ...publicKey]).toString('base64')}`;
}

/**
 * Reads what {@link formatVerifierKey} writes.
 *
 * @throws SignerError LEDGER_MALFORMED
 */
export function parseVerifierKey(text: string): NoteVerifier {
  const [, name = '', id = '', encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  const publicKey = publicKeyIn(fromBase64(encoded));
  const isManaged = publicKey !== undefined && isKeyName(name);
  if (!isManaged || Buffer.from(keyId({ name, publicKey })).toString('hex') !== id) {
    throw badNote(`${quote(text)} is not an Ed25519 key of a signed note`);
  }
  return { name, publicKey };
}

function publicKeyIn(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes?.length === 1 + PUBLIC_KEY_BYTES && bytes[0] === ED25519
    ? bytes.subarray(1)
    : undefined;
}

/** Signs `text` with each key. The text must end with a line feed. */
export function signNote(text: string, signers: readonly NoteSigner[]): string {
  const lines = signers.map((signer) => {
    const signature = sign(null, Buffer.from(text), signer.privateKey);
    const encoded = Buffer.concat([keyId(signer), signature]).toString('base64');
    return `— ${signer.name} ${encoded}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

/** A note with at least one verified signature. */
export interface OpenNote {
  /** The signed text with the line feed at its end. */
  readonly text: string;
  /** Keys among the given ones that signed the note. */
  readonly by: readonly NoteVerifier[];
}

/**
 * Opens a note that one of `verifiers` signed. It ignores signatures of other keys.
 * @throws SignerError LEDGER_MALFORMED if it is not a note, or none of them signed it
 */
export function openNote(note: string, verifiers: readonly NoteVerifier[]): OpenNote {
  const end = note.lastIndexOf('\n\n');
  if (end < 0 || !note.endsWith('\n') || note.length > MAX_CHARACTERS)
    throw badNote('it has no signature');
  const text = note.slice(0, end + 1);
  const signatures = note
    .slice(end + 2, -1)
    .split('\n')
    .map(parseSignature);
  const by = verifiers.filter((verifier) => isSignedBy(verifier, text, signatures));
  if (by.length > 0) return { text, by };
  const names = verifiers.map(({ name }) => quote(name)).join(', ');
  throw badNote(`none of its signatures is by the key that is known for ${names}`);
}

interface Signature {
  readonly name: string;
  readonly keyId: Uint8Array;
  readonly bytes: Uint8Array;
}

function parseSignature(line: string): Signature {
  const [, name = '', encoded = ''] = /^— (\S+) (\S+)$/u.exec(line) ?? [];
  const bytes = fromBase64(encoded);
  if (!isKeyName(name) || bytes === undefined || bytes.length <= KEY_ID_BYTES) {
    throw badNote('a line of a signature is malformed');
  }
  return { name, keyId: bytes.subarray(0, KEY_ID_BYTES), bytes: bytes.subarray(KEY_ID_BYTES) };
}

/**
 * Reports whether the verifier's key signed the text. A wrong signature that claims a known key
 * makes the note invalid, as in Go's note.Open.
 */
function isSignedBy(
  verifier: NoteVerifier,
  text: string,
  signatures: readonly Signature[],
): boolean {
  const id = keyId(verifier);
  const mine = signatures.filter(
    ({ name, keyId }) => name === verifier.name && sameBytes(keyId, id),
  );
  if (mine.length === 0) return false;
  const key = createPublicKey({ key: spkiOf(verifier.publicKey), format: 'der', type: 'spki' });
  if (mine.every(({ bytes }) => verify(null, Buffer.from(text), key, bytes))) return true;
  throw badNote(`a signature by ${quote(verifier.name)} does not fit the text`);
}

/** Returns the SubjectPublicKeyInfo of an Ed25519 key. */
export function spkiOf(publicKey: Uint8Array): Buffer {
  return Buffer.concat([SPKI_HEAD, publicKey]);
}

function keyId({ name, publicKey }: NoteVerifier): Uint8Array {
  const hashed = sha256(
    Buffer.concat([Buffer.from(`${name}\n`), Uint8Array.of(ED25519), publicKey]),
  );
  return hashed.subarray(0, KEY_ID_BYTES);
}

/** Reports whether a key of a note may have this name. */
export function isKeyName(name: string): boolean {
  return name !== '' && !/[\s+]/u.test(name) && name.isWellFormed();
}

/** Decodes canonical base64 with its padding (RFC 4648 §4). */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

/** Returns the error for an unusable note, checkpoint or list of logs. */
export function badNote(fault: string): SignerError {
  const message = `a signed note of the ledger cannot be used: ${fault}`;
  return new SignerError({ code: 'LEDGER_MALFORMED', disposition: 'wait', message });
}
