// SPDX-License-Identifier: Apache-2.0
import { usageError } from '#base/errors.ts';

/** The minimum of Java's keytool. */
const SHORTEST = 6;

/**
 * Checks that every program reads a password alike. PBES2 takes bytes and the MAC takes UTF-16, and
 * OpenSSL and Java encode other characters differently.
 *
 * @returns the password
 * @throws SignerError USAGE (`fail`), whose message has no part of the password
 */
export function requirePassword(password: string): string {
  if (/^[\x20-\x7e]*$/.test(password) && password.length >= SHORTEST) return password;
  throw usageError(
    `the password of the PKCS#12 file must be at least ${SHORTEST} printable ASCII characters: OpenSSL and Java read others differently`,
  );
}
