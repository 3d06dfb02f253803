// SPDX-License-Identifier: Apache-2.0
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../errors.ts';

/** What a server shows: PEM of its certificate, what is above it, and the key. */
export interface ServingCertificate {
  readonly certificate: string;
  readonly key: string;
  /** When the certificate ends, in milliseconds. */
  readonly notAfter: number;
}

/**
 * Reads `tls.crt` and `tls.key` of a directory: a mounted `kubernetes.io/tls` Secret, or any like it.
 *
 * @returns why they cannot be used, in words, where they cannot: not there, half written, expired
 */
export async function readServingCertificate(
  directory: string,
  now: number,
): Promise<ServingCertificate | string> {
  try {
    const [certificate, key] = await Promise.all([
      readFile(join(directory, 'tls.crt'), 'utf8'),
      readFile(join(directory, 'tls.key'), 'utf8'),
    ]);
    const leaf = new X509Certificate(certificate);
    const notAfter = Date.parse(leaf.validTo);
    // Two reads are not one: what was swapped in between fits at the next look.
    if (!leaf.checkPrivateKey(createPrivateKey(key))) return 'tls.key is not the key of tls.crt';
    if (notAfter <= now) return `tls.crt expired at ${new Date(notAfter).toISOString()}`;
    return { certificate, key, notAfter };
  } catch (error) {
    return messageOf(error);
  }
}
