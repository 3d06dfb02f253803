// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '../../errors.ts';
import { decodeCertificate, fingerprint, type Certificate } from './certificate.ts';
import { nameText } from '../names/distinguished-name.ts';
import { decodePemAll, encodePem } from '../der/pem.ts';
import { inputError } from '../der/input-error.ts';

/** `spec.trustBundle` of a ClusterTrustBundle holds 1 MiB (pkg/apis/certificates/validation). */
const MAX_BUNDLE_CHARACTERS = 1024 * 1024;

/**
 * Decodes the trust anchors of a PEM text.
 *
 * @returns in order, each once; none for a blank text
 * @throws SignerError PEM_MALFORMED, CERTIFICATE_MALFORMED when one is not a CA, or as decodeCertificate
 */
export function readAnchors(pem: string): readonly Certificate[] {
  const anchors = new Map<string, Certificate>();
  for (const der of decodePemAll(pem, 'CERTIFICATE')) {
    const certificate = decodeCertificate(der);
    if (!certificate.isCa) {
      const name = nameText(certificate.subject);
      throw inputError(
        'CERTIFICATE_MALFORMED',
        `"${name}" is not a CA certificate (basicConstraints lacks CA:TRUE); trust anchors must be CAs`,
      );
    }
    anchors.set(fingerprint(der), certificate);
  }
  return [...anchors.values()];
}

/**
 * Writes trust anchors as PEM, each once: the newest notBefore first, because some verifiers read only the
 * first, then by fingerprint, so that the same anchors always make the same text.
 *
 * @throws SignerError CERTIFICATE_MALFORMED (`wait`) when a ClusterTrustBundle cannot hold the text
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
      message: `the trust anchors need ${text.length} characters of PEM; a ClusterTrustBundle holds ${MAX_BUNDLE_CHARACTERS}; remove anchors that no certificate needs`,
    });
  }
  return text;
}

/** The fingerprints of the trust anchors of a PEM text; none when the text cannot be decoded. */
export function anchorFingerprints(pem: string): ReadonlySet<string> {
  const anchors = attempt(() => readAnchors(pem));
  if (anchors instanceof SignerError) return new Set();
  return new Set(anchors.map(({ raw }) => fingerprint(raw)));
}
