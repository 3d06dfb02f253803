// SPDX-License-Identifier: Apache-2.0
/** Private keys in encrypted PKCS#8 (RFC 5958 §3): PBES2 of RFC 8018, which OpenSSL reads. */
import { createCipheriv, createPrivateKey, pbkdf2, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { Random } from '#base/ports.ts';
import { quote } from '#base/quote.ts';
import { readWhole, type DerReader } from '../der/der-reader.ts';
import { integer, nullValue, octetString, oid, sequence } from '../der/der-writer.ts';
import { TAG_INTEGER, TAG_NULL, TAG_OCTET_STRING, TAG_OID } from '../der/der-tags.ts';
import { checkInteger, oidOf, unsignedBigInt } from '../der/der-values.ts';
import { inputError } from '../der/input-error.ts';
import {
  OID_AES128_CBC,
  OID_AES192_CBC,
  OID_AES256_CBC,
  OID_HMAC_SHA256,
  OID_HMAC_SHA384,
  OID_HMAC_SHA512,
  OID_PBES2,
  OID_PBKDF2,
} from '../der/oids.ts';
import { decodePem, encodePem } from '../der/pem.ts';
import { signatureAlgorithm } from './signature-algorithm.ts';

/** PEM label of RFC 7468 §11. */
const LABEL = 'ENCRYPTED PRIVATE KEY';

/**
 * Rounds of PBKDF2 for a new file: half a second on one core. OWASP's minimum for HMAC-SHA-256 is
 * 600,000. OpenSSL's default of 2,048 is too few for a key that leaves the machine on a stick.
 */
const ROUNDS = 1_000_000;

/** The fewest rounds that a file may have. Attackers try passphrases of one with fewer quickly. */
const MIN_ROUNDS = 100_000;

/** The most rounds that a file may have: five seconds. More would only delay the reader. */
const MAX_ROUNDS = 10_000_000;

const PBKDF2_SALT_BYTES = 16;
const IV_BYTES = 16;
const KEY_BYTES = 32;

/** The limit of a file in bytes. RSA-4096 has 2.5 KiB, and ML-DSA-65 has 4 KiB. */
const MAX_KEY_FILE_BYTES = 64 * 1024;

const CIPHERS: readonly string[] = [OID_AES128_CBC, OID_AES192_CBC, OID_AES256_CBC];
const HASHES: readonly string[] = [OID_HMAC_SHA256, OID_HMAC_SHA384, OID_HMAC_SHA512];

const HELP =
  'encrypt it again ("openssl pkcs8 -topk8 -v2 aes-256-cbc -v2prf hmacWithSHA256 -iter 1000000")';

const derive = promisify(pbkdf2);

/** The shortest passphrase of a new key. It protects a file of which attackers may have a copy. */
const MIN_PASSPHRASE = 12;

/** The longest passphrase that node:crypto passes to OpenSSL. */
const MAX_PASSPHRASE = 1024;

/**
 * Checks the passphrase of a new key. Printable ASCII has the same bytes in every program and under
 * every keyboard layout's encoding.
 *
 * @returns the passphrase
 * @throws SignerError KEY_WEAK, whose message has no part of the passphrase
 */
export function requirePassphrase(passphrase: string): string {
  const { length } = passphrase;
  if (/^[\x20-\x7e]*$/.test(passphrase) && length >= MIN_PASSPHRASE && length <= MAX_PASSPHRASE) {
    return passphrase;
  }
  throw inputError(
    'KEY_WEAK',
    `the passphrase of a new key must have ${MIN_PASSPHRASE} to ${MAX_PASSPHRASE} printable ASCII characters`,
  );
}

/**
 * Encrypts a private key: PBES2 with PBKDF2-HMAC-SHA-256 and AES-256-CBC.
 *
 * @param random - source of salt and initialization vector
 * @returns PEM
 * @throws SignerError as {@link requirePassphrase}
 */
export async function encryptPrivateKey(
  key: KeyObject,
  passphrase: string,
  random: Random,
): Promise<string> {
  const password = Buffer.from(requirePassphrase(passphrase), 'ascii');
  const [salt, iv] = [random(PBKDF2_SALT_BYTES), random(IV_BYTES)];
  const secret = await derive(password, salt, ROUNDS, KEY_BYTES, 'sha256');
  const cipher = createCipheriv('aes-256-cbc', secret, iv);
  const plain = key.export({ type: 'pkcs8', format: 'der' });
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final()]);
  plain.fill(0);
  const der = sequence(algorithmOf(salt, iv), octetString(encrypted));
  return encodePem(LABEL, der);
}

/** Encodes the AlgorithmIdentifier of PBES2 (RFC 8018 appendix A.4). */
function algorithmOf(salt: Uint8Array, iv: Uint8Array): Uint8Array {
  const rounds = Buffer.alloc(4);
  rounds.writeUInt32BE(ROUNDS);
  return sequence(
    oid(OID_PBES2),
    sequence(
      sequence(
        oid(OID_PBKDF2),
        sequence(octetString(salt), integer(rounds), sequence(oid(OID_HMAC_SHA256), nullValue())),
      ),
      sequence(oid(OID_AES256_CBC), octetString(iv)),
    ),
  );
}

/**
 * Reads an encrypted private key. Rejects weak parameters before it derives anything.
 *
 * @param pem - one block ENCRYPTED PRIVATE KEY
 * @throws SignerError KEY_ENCRYPTED for a wrong passphrase or a damaged file, KEY_WEAK for weak
 *   parameters, KEY_UNSUPPORTED for others, PEM_MALFORMED or DER_MALFORMED. No message has any part
 *   of key or passphrase.
 */
export function decryptPrivateKey(pem: string, passphrase: string): KeyObject {
  if (/-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/.test(pem) && !pem.includes(LABEL)) {
    throw inputError('KEY_WEAK', `the private key is not encrypted; ${HELP}`);
  }
  const der = decodePem(pem, LABEL);
  requireStrong(der);
  const key = open(der, passphrase);
  signatureAlgorithm(key);
  return key;
}

function open(der: Uint8Array, passphrase: string): KeyObject {
  try {
    return createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8', passphrase });
  } catch {
    throw inputError(
      'KEY_ENCRYPTED',
      'the passphrase is wrong, or the file with the key is damaged',
    );
  }
}

/** Reads the parameters of PBES2 strictly. */
function requireStrong(der: Uint8Array): void {
  const info = readWhole(der, 'the encrypted key', MAX_KEY_FILE_BYTES);
  const algorithm = info.sequence('the encryption');
  info.read(TAG_OCTET_STRING, 'the encrypted key');
  info.finish();
  requireOid(algorithm, [OID_PBES2], 'the encryption');
  const parameters = algorithm.sequence('the parameters of PBES2');
  algorithm.finish();
  const derivation = parameters.sequence('the key derivation');
  requireOid(derivation, [OID_PBKDF2], 'the key derivation');
  requireRounds(derivation.sequence('the parameters of PBKDF2'));
  derivation.finish();
  const cipher = parameters.sequence('the cipher');
  requireOid(cipher, CIPHERS, 'the cipher');
  cipher.read(TAG_OCTET_STRING, 'the initialization vector');
  cipher.finish();
  parameters.finish();
}

function requireRounds(fields: DerReader): void {
  fields.read(TAG_OCTET_STRING, 'the salt');
  const rounds = readNumber(fields, 'the rounds');
  if (fields.at(TAG_INTEGER)) readNumber(fields, 'the key length');
  if (fields.isDone()) {
    // The default of RFC 8018 appendix A.2.
    throw inputError('KEY_UNSUPPORTED', `the hash of the key is HMAC-SHA-1; ${HELP}`);
  }
  const hash = fields.sequence('the hash');
  requireOid(hash, HASHES, 'the hash');
  if (!hash.isDone()) hash.read(TAG_NULL, 'the parameters of the hash');
  hash.finish();
  fields.finish();
  if (rounds >= MIN_ROUNDS && rounds <= MAX_ROUNDS) return;
  throw inputError(
    'KEY_WEAK',
    `the file with the key has ${rounds} rounds of PBKDF2, and must have ${MIN_ROUNDS} to ${MAX_ROUNDS}; ${HELP}`,
  );
}

function readNumber(fields: DerReader, what: string): bigint {
  return unsignedBigInt(checkInteger(fields.read(TAG_INTEGER, what), what));
}

function requireOid(fields: DerReader, allowed: readonly string[], what: string): void {
  const found = oidOf(fields.read(TAG_OID, what), what);
  if (allowed.includes(found)) return;
  throw inputError('KEY_UNSUPPORTED', `${what} of the key is ${quote(found)}; ${HELP}`);
}
