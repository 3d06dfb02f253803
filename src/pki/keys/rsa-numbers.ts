// SPDX-License-Identifier: Apache-2.0
import { readWhole } from '../der/der-reader.ts';
import { TAG_INTEGER } from '../der/der-tags.ts';
import { checkInteger } from '../der/der-values.ts';
import { inputError } from '../der/input-error.ts';

/**
 * Room for 16,384 bits, more than any key in use. Above that a single verification takes too long.
 */
const MAX_RSA_PUBLIC_KEY_BYTES = 2100;

/**
 * Go's limit (crypto/rsa, “public exponent too large”). It verifies no signature of a larger one.
 */
const MAX_RSA_EXPONENT = 2 ** 31 - 1;

/** The numbers of an RSA public key. */
export interface RsaNumbers {
  /** Big-endian, without leading zeros. */
  readonly modulus: Uint8Array;
  readonly exponent: number;
}

/**
 * Decodes an RSAPublicKey (RFC 8017 appendix A.1.1).
 *
 * @param der - the contents of the subjectPublicKey BIT STRING
 * @throws SignerError DER_MALFORMED, DER_LIMIT, KEY_MALFORMED when a number is not positive, or
 * KEY_UNSUPPORTED when the exponent is above 31 bits
 */
export function decodeRsaNumbers(der: Uint8Array): RsaNumbers {
  const key = readWhole(der, 'the RSA public key', MAX_RSA_PUBLIC_KEY_BYTES);
  const modulus = positive(key.read(TAG_INTEGER, 'the modulus'), 'the modulus');
  const exponentOctets = positive(key.read(TAG_INTEGER, 'the exponent'), 'the exponent');
  key.finish();
  const exponent = exponentOctets.reduce((value, octet) => value * 256 + octet, 0);
  if (exponent > MAX_RSA_EXPONENT) {
    throw inputError('KEY_UNSUPPORTED', 'the RSA exponent has more than 31 bits; use 65537');
  }
  return { modulus, exponent };
}

/**
 * Returns the length of a modulus in bits. A modulus of 2041 bits fills 256 bytes as one of 2048
 * does.
 *
 * @param modulus - big-endian, without leading zeros
 */
export function bitLength(modulus: Uint8Array): number {
  return modulus.length * 8 - Math.clz32(modulus[0] ?? 0) + 24;
}

function positive(contents: Uint8Array, what: string): Uint8Array {
  const [first = 0, ...rest] = checkInteger(contents, what).subarray(0, 2);
  if ((first & 0x80) !== 0 || (first === 0 && rest.length === 0)) {
    throw inputError('KEY_MALFORMED', `${what} of the RSA key is not positive`);
  }
  return first === 0 ? contents.subarray(1) : contents;
}
