// SPDX-License-Identifier: Apache-2.0
import { createPublicKey } from 'node:crypto';
import type { Certificate } from '#pki/x509/certificate.ts';

/** Contents of a SPIFFE bundle to write (SPIFFE Trust Domain and Bundle §4.1). */
export interface BundleContents {
  /**
   * The CAs whose X509-SVIDs are valid. An empty list invalidates every SVID of the trust domain.
   */
  readonly anchors: readonly Certificate[];
  /** Increases whenever the contents change. */
  readonly sequence: bigint;
  /** Suggested refresh interval of consumers, in seconds. */
  readonly refreshSeconds: number;
}

/** The value of `use` for CAs of X509-SVIDs (X509-SVID §6.1). */
export const X509_SVID_USE = 'x509-svid';

/**
 * Reports whether consumers can read a bundle with this CA. The specification requires consumers to
 * ignore a key of an unknown type (§4.2.1). go-spiffe and its users reject the whole bundle.
 */
export function isReadable({ publicKey }: Certificate): boolean {
  return publicKey.algorithm !== 'MLDSA65';
}

/**
 * Writes a SPIFFE bundle: a JWK Set (RFC 7517) with one key a CA, each with exactly one certificate
 * in `x5c` and no `kid` (X509-SVID §6.1).
 *
 * @returns JSON
 */
export function writeBundle({ anchors, sequence, refreshSeconds }: BundleContents): string {
  const document = JSON.stringify({
    keys: anchors.map(jwkOf),
    spiffe_refresh_hint: refreshSeconds,
  });
  // JSON.stringify rejects a bigint, and the sequence may have 64 bits (§4.1.1).
  return `{"spiffe_sequence":${sequence},${document.slice(1)}\n`;
}

function jwkOf({ raw, publicKey: { spki } }: Certificate): object {
  const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  const { kty, ...parameters } = key.export({ format: 'jwk' });
  return { kty, use: X509_SVID_USE, x5c: [Buffer.from(raw).toString('base64')], ...parameters };
}
