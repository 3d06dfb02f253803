// SPDX-License-Identifier: Apache-2.0
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '#base/errors.ts';

/** The certificate chain and the key of a server, as PEM. */
export interface ServingCertificate {
  readonly certificate: string;
  readonly key: string;
  /** The expiry of the certificate in Unix milliseconds. */
  readonly notAfter: number;
}

/**
 * Reads `tls.crt` and `tls.key` of a directory, such as a mounted `kubernetes.io/tls` Secret.
 *
 * @returns the certificate and key, or why they are unusable: missing, incomplete, expired
 */
export async function readServingCertificate(
  directory: string,
  now: number,
): Promise<ServingCertificate | string> {
  try {
    // Reads them in order, so that the reason is the same each time if both are missing.
    const certificate = await readFile(join(directory, 'tls.crt'), 'utf8');
    const key = await readFile(join(directory, 'tls.key'), 'utf8');
    const leaf = new X509Certificate(certificate);
    const notAfter = Date.parse(leaf.validTo);
    // The files may be swapped between the two reads. The next read finds a matching pair.
    if (!leaf.checkPrivateKey(createPrivateKey(key))) return 'tls.key is not the key of tls.crt';
    if (notAfter <= now) return `tls.crt expired at ${new Date(notAfter).toISOString()}`;
    return { certificate, key, notAfter };
  } catch (error) {
    return messageOf(error);
  }
}
