// SPDX-License-Identifier: Apache-2.0
/**
 * Signatures by which a person authenticates to the ledger (ADR 0056). The person creates a
 * CertificateSigningRequest, in which the API server records username, groups, UID and extra
 * values. The person then signs each request to the ledger with its key.
 */
import { createHash, sign, verify, type KeyObject } from 'node:crypto';

/** How long after its creation the ledger accepts such an object. */
export const READER_SECONDS = 600;

/** Header fields: the name of the CertificateSigningRequest, and the signature in base64. */
export const READER_HEADER = 'countersign-reader';
export const SIGNATURE_HEADER = 'countersign-signature';

/** The parts of a request that a signature covers. */
export interface SignedParts {
  /**
   * UID of the CertificateSigningRequest, so that a key from another cluster proves nothing here.
   */
  readonly uid: string;
  readonly method: string;
  /** The path with its query, as the ledger receives it. */
  readonly url: string;
  /** Body; '' without one. */
  readonly body: string;
}

/** The curve of the key. Its signatures are short, and every FIPS 140 module has it. */
const CURVE = 'prime256v1';
const HASH = 'sha256';

/** Returns the signature in base64. */
export function signRequest(parts: SignedParts, key: KeyObject): string {
  return sign(HASH, signedText(parts), key).toString('base64');
}

/** Reports whether `signature` is by the private half of `key`, which must be on P-256. */
export function isSignedBy(parts: SignedParts, key: KeyObject, signature: string): boolean {
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== CURVE)
    return false;
  return verify(HASH, signedText(parts), key, Buffer.from(signature, 'base64'));
}

function signedText({ uid, method, url, body }: SignedParts): Buffer {
  const bodyHash = createHash(HASH).update(body).digest('hex');
  // Only the URL could contain a line feed, and a request line of HTTP has none.
  return Buffer.from(['countersign ledger request v1', uid, method, url, bodyHash].join('\n'));
}
