// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '../../errors.ts';
import { decodeCertificate, fingerprint, type Certificate } from './certificate.ts';
import { nameText } from '../names/distinguished-name.ts';
import { decodePemAll, encodePem } from '../der/pem.ts';
import { inputError } from '../der/input-error.ts';

/** `spec.trustBundle` of a ClusterTrustBundle may have one MiB (certificates.k8s.io, validation.go). */
const MAX_BUNDLE_CHARACTERS = 1024 * 1024;

/**
 * The CA certificates of a PEM text, each once, in their order; none for an empty text.
 *
 * @throws SignerError PEM_MALFORMED, CERTIFICATE_MALFORMED or what decodeCertificate throws
 */
export function readAnchors(pem: string): readonly Certificate[] {
  const anchors = new Map<string, Certificate>();
  for (const der of decodePemAll(pem, 'CERTIFICATE')) {
    const certificate = decodeCertificate(der);
    if (!certificate.isCa) {
      const name = nameText(certificate.subject);
      throw inputError(
        'CERTIFICATE_MALFORMED',
        `"${name}" is not a CA certificate (basicConstraints lacks CA:TRUE): only CAs are anchors`,
      );
    }
    anchors.set(fingerprint(der), certificate);
  }
  return [...anchors.values()];
}

/**
 * The PEM text of anchors, each once: newest first, because some verifiers look at the first only,
 * then by fingerprint, so that the same anchors make the same text.
 *
 * @throws SignerError CERTIFICATE_MALFORMED (`wait`): more than a ClusterTrustBundle can hold
 */
export function writeAnchors(certificates: readonly Certificate[]): string {
  const byPrint = new Map(certificates.map((each) => [fingerprint(each.raw), each]));
  const text = [...byPrint]
    .sort(([a, left], [b, right]) => right.notBefore - left.notBefore || (a < b ? -1 : 1))
    .map(([, { raw }]) => encodePem('CERTIFICATE', raw))
    .join('');
  if (text.length > MAX_BUNDLE_CHARACTERS) {
    throw new SignerError({
      code: 'CERTIFICATE_MALFORMED',
      disposition: 'wait',
      message: `the trust anchors make ${text.length} characters of PEM; a ClusterTrustBundle holds ${MAX_BUNDLE_CHARACTERS}`,
    });
  }
  return text;
}

/** Fingerprints of the anchors of a PEM text; what cannot be read serves nothing. */
export function anchorFingerprints(pem: string): ReadonlySet<string> {
  const anchors = attempt(() => readAnchors(pem));
  if (anchors instanceof SignerError) return new Set();
  return new Set(anchors.map(({ raw }) => fingerprint(raw)));
}
