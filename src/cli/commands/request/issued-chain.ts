// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '#base/bytes.ts';
import { SignerError, attempt, usageError } from '#base/errors.ts';
import { decodePemAll, encodePem } from '#pki/der/pem.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';

/**
 * Returns the signer's chain, encoded again, so that only certificates get into files and
 * terminals. It rejects a certificate for another key. The signer is not trusted, because users may
 * request from any.
 *
 * @param text - `status.certificate`, decoded
 * @param spki - DER SubjectPublicKeyInfo of the requested key
 * @returns PEM, the leaf first
 * @throws SignerError USAGE (`fail`) for another key, or an invalid chain
 */
export function issuedChain(text: string, spki: Uint8Array): string {
  const read = attempt(() => decodePemAll(withoutExplanations(text), 'CERTIFICATE'));
  if (read instanceof SignerError) throw unusable(read.message);
  const [leaf] = read;
  if (leaf === undefined) throw unusable('it has no certificate');
  const decoded = attempt(() => decodeCertificate(leaf));
  if (decoded instanceof SignerError) throw unusable(decoded.message);
  if (!sameBytes(decoded.publicKey.spki, spki)) throw unusable('it is for another key');
  return read.map((der) => encodePem('CERTIFICATE', der)).join('');
}

/**
 * Removes text before, between and after the blocks, which certificates.k8s.io/v1 allows (RFC 7468
 * §5.2).
 */
function withoutExplanations(text: string): string {
  return [...text.matchAll(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)]
    .map(([block]) => block)
    .join('\n');
}

function unusable(why: string): SignerError {
  return usageError(
    `the signer answered with a certificate that cannot be used: ${why}; the key is kept, and nothing else was written`,
  );
}
