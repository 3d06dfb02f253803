// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '#base/bytes.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { fingerprint, type Certificate, readCertificates } from '#pki/x509/certificate.ts';
import { verifyPath } from '#pki/x509/path.ts';
import type { CrossCertificate } from './contract.ts';

/**
 * Reads a CA's cross-certificate and the certificate of the CA that signed it. It may be expired:
 * the signer checks that before delivery.
 *
 * @param pem - the cross-certificate, then its issuer
 * @param ca - the CA whose key it certifies
 * @returns undefined when it is not a cross-certificate of this CA. Signing continues without it,
 *   because verifiers that read the trust bundle do not need it.
 */
export function readCrossCertificate(pem: string, ca: Certificate): CrossCertificate | undefined {
  const read = attempt(() => readCertificates(pem));
  const [certificate, issuer, ...more] = read instanceof SignerError ? [] : read;
  if (certificate === undefined || issuer === undefined || more.length > 0) return undefined;
  if (!isOfKey(certificate, ca) || !isSignedBy(certificate, issuer)) return undefined;
  return { certificate, issuer: fingerprint(issuer.raw) };
}

/**
 * Reports whether subject and key match the CA. Leaves identify their issuer by subject and key
 * identifier, so both must match.
 */
function isOfKey(cross: Certificate, ca: Certificate): boolean {
  return (
    cross.isCa &&
    // A root has no place in a chain (RFC 8446 §4.4.2).
    !sameBytes(cross.issuer.raw, ca.subject.raw) &&
    sameBytes(cross.subject.raw, ca.subject.raw) &&
    sameBytes(cross.publicKey.spki, ca.publicKey.spki) &&
    sameBytes(cross.subjectKeyIdentifier, ca.subjectKeyIdentifier)
  );
}

/** Reports whether the issuer signed it. Verifies the signature at a time when both are valid. */
function isSignedBy(cross: Certificate, issuer: Certificate): boolean {
  if (issuer.pathLen === 0) return false;
  const now = Math.max(cross.notBefore, issuer.notBefore);
  const path = { leaf: cross, intermediates: [], anchors: [issuer], now };
  return !(attempt(() => verifyPath(path)) instanceof SignerError);
}
