// SPDX-License-Identifier: Apache-2.0
import { usageError } from '../errors.ts';

/** Java's keytool writes no store with a shorter one. */
const SHORTEST = 6;

/**
 * A password that every program reads alike. PBES2 takes bytes and the MAC takes UTF-16; which bytes other characters
 * are differs between OpenSSL and Java.
 *
 * @returns the password
 * @throws SignerError USAGE (`fail`); its message has no part of the password
 */
export function requirePassword(password: string): string {
  if (/^[\x20-\x7e]*$/.test(password) && password.length >= SHORTEST) return password;
  throw usageError(
    `the password of the PKCS#12 file has to be at least ${SHORTEST} printable ASCII characters: OpenSSL and Java read others differently`,
  );
}
