// SPDX-License-Identifier: Apache-2.0
/** Signed notes (C2SP signed-note) with Ed25519 keys. */
import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { sameBytes } from '../../bytes.ts';
import { SignerError } from '../../errors.ts';
import { quote } from '../../quote.ts';
import { sha256 } from './merkle.ts';

/** The algorithm Ed25519, in a key's text and in what its ID is the hash of. */
const ED25519 = 1;
const KEY_ID_BYTES = 4;
const PUBLIC_KEY_BYTES = 32;
/** SubjectPublicKeyInfo of Ed25519 up to the key (RFC 8410 §4). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
/** A note holds a checkpoint or a list of logs. */
const MOST_CHARACTERS = 1024 * 1024;

/** A public key by which notes are verified. */
export interface NoteVerifier {
  readonly name: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** A key that signs notes. */
export interface NoteSigner extends NoteVerifier {
  readonly privateKey: KeyObject;
}

/**
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

/** The text by which others know a key: `<name>+<key ID>+<base64 of algorithm and key>`. */
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
  const isOurs = publicKey !== undefined && isKeyName(name);
  if (!isOurs || Buffer.from(keyId({ name, publicKey })).toString('hex') !== id) {
    throw badNote(`${quote(text)} is no Ed25519 key of a signed note`);
  }
  return { name, publicKey };
}

function publicKeyIn(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes?.length === 1 + PUBLIC_KEY_BYTES && bytes[0] === ED25519
    ? bytes.subarray(1)
    : undefined;
}

/** `text`, which ends with a line feed, with a signature by each key. */
export function signNote(text: string, signers: readonly NoteSigner[]): string {
  const lines = signers.map((signer) => {
    const signature = sign(null, Buffer.from(text), signer.privateKey);
    const encoded = Buffer.concat([keyId(signer), signature]).toString('base64');
    return `— ${signer.name} ${encoded}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

/** A note at least one of whose signatures was verified. */
export interface OpenNote {
  /** With the line feed at its end. */
  readonly text: string;
  /** Who signed it, of those that were asked for. */
  readonly by: readonly NoteVerifier[];
}

/**
 * The text of a note that one of `verifiers` signed; signatures of other keys are ignored.
 *
 * @throws SignerError LEDGER_MALFORMED if it is no note, or none of them signed it
 */
export function openNote(note: string, verifiers: readonly NoteVerifier[]): OpenNote {
  const end = note.lastIndexOf('\n\n');
  if (end < 0 || !note.endsWith('\n') || note.length > MOST_CHARACTERS)
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

/** A wrong signature that claims to be by a known key spoils the note, as in Go's note.Open. */
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

/** SubjectPublicKeyInfo of an Ed25519 key. */
export function spkiOf(publicKey: Uint8Array): Buffer {
  return Buffer.concat([SPKI_HEAD, publicKey]);
}

function keyId({ name, publicKey }: NoteVerifier): Uint8Array {
  const hashed = sha256(
    Buffer.concat([Buffer.from(`${name}\n`), Uint8Array.of(ED25519), publicKey]),
  );
  return hashed.subarray(0, KEY_ID_BYTES);
}

/** Whether a key of a note may have this name. */
export function isKeyName(name: string): boolean {
  return name !== '' && !/[\s+]/u.test(name) && name.isWellFormed();
}

/** The bytes of canonical base64 with its padding (RFC 4648 §4). */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

/** Of a note, a checkpoint or a list of logs that cannot be used. */
export function badNote(fault: string): SignerError {
  const message = `a signed note of the ledger cannot be used: ${fault}`;
  return new SignerError({ code: 'LEDGER_MALFORMED', disposition: 'wait', message });
}
