// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from 'node:crypto';
import { SignerError, attempt } from '#base/errors.ts';
import { quote } from '#base/quote.ts';
import { decodeCertificate, fingerprint, type Certificate } from './certificate.ts';
import { nameText } from '../names/distinguished-name.ts';
import { decodePemAll, encodePem } from '../der/pem.ts';
import { inputError } from '../der/input-error.ts';

/**
 * The limit of `spec.trustBundle` in a ClusterTrustBundle, 1 MiB
 * (pkg/apis/certificates/validation).
 */
const MAX_BUNDLE_CHARACTERS = 1024 * 1024;

/**
 * Decodes the trust anchors of a PEM text.
 *
 * @returns the anchors in order, each once, or none for a blank text
 * @throws SignerError PEM_MALFORMED, CERTIFICATE_MALFORMED when one is not a CA, or as
 *   decodeCertificate
 */
export function readAnchors(pem: string): readonly Certificate[] {
  const ders = decodePemAll(pem, 'CERTIFICATE');
  return [...new Map(ders.map((der) => [fingerprint(der), decodeAnchor(der)])).values()];
}

function decodeAnchor(der: Uint8Array): Certificate {
  const certificate = decodeCertificate(der);
  if (certificate.isCa) return certificate;
  const name = nameText(certificate.subject);
  throw inputError(
    'CERTIFICATE_MALFORMED',
    `"${name}" is not a CA certificate (basicConstraints lacks CA:TRUE); trust anchors must be CAs`,
  );
}

/** The certificates of a text of trust anchors: those that can be used, and why others cannot. */
export interface SortedAnchors {
  /** The anchors in order, each once. */
  readonly anchors: readonly Certificate[];
  /** Number, subject, fingerprint, fault and remedy of each of the first other certificates. */
  readonly omitted: readonly string[];
}

/**
 * Decodes the trust anchors of a PEM text, and leaves out each certificate that is not readable or
 * not a CA, so that one faulty anchor does not remove the others.
 *
 * @throws SignerError PEM_MALFORMED
 */
export function sortAnchors(pem: string): SortedAnchors {
  const anchors = new Map<string, Certificate>();
  const omitted: string[] = [];
  for (const [index, der] of decodePemAll(pem, 'CERTIFICATE').entries()) {
    const read = attempt(() => decodeAnchor(der));
    if (read instanceof SignerError) omitted.push(omission(index, der, read.message));
    else anchors.set(fingerprint(der), read);
  }
  const rest = omitted.splice(MAX_OMISSIONS);
  if (rest.length > 0) omitted.push(`${rest.length} more certificates are left out`);
  return { anchors: [...anchors.values()], omitted };
}

/** Omitted certificates that are named one by one. A condition's message has 32 KiB. */
const MAX_OMISSIONS = 3;

function omission(index: number, der: Uint8Array, fault: string): string {
  return `${certificateLabel(index, der)} is left out: ${fault}; the tool that made it may be old: issue it again ("openssl x509 -req -in CSR -signkey KEY -out CERT"), or remove it`;
}

/**
 * Returns a name for messages of a certificate that may not be readable: its number, subject and
 * fingerprint.
 *
 * @param index - from 0, in its text
 */
export function certificateLabel(index: number, der: Uint8Array): string {
  return `certificate ${index + 1} (${quote(subjectOf(der), MAX_SUBJECT_CHARACTERS)}, ${fingerprint(der)})`;
}

/** Characters of a subject in a message. */
const MAX_SUBJECT_CHARACTERS = 100;

/** Returns the subject as OpenSSL reads it, because our reader has refused the certificate. */
function subjectOf(der: Uint8Array): string {
  try {
    return new X509Certificate(der).subject.replaceAll('\n', ', ');
  } catch {
    return 'unreadable subject';
  }
}

/**
 * Writes trust anchors as PEM, each once. Those of the CA that signs come first, because some
 * verifiers read only the first. The newest notBefore follows. The fingerprint decides between
 * equal ones, so that the same anchors always give the same text.
 *
 * @param signing - fingerprints of the anchors of the CA that signs. Empty if there is none.
 * @throws SignerError CERTIFICATE_MALFORMED (`wait`) when a ClusterTrustBundle cannot hold the text
 */
export function writeAnchors(
  certificates: readonly Certificate[],
  signing: ReadonlySet<string> = new Set(),
): string {
  const byPrint = new Map(certificates.map((each) => [fingerprint(each.raw), each]));
  const text = [...byPrint]
    .sort(
      ([a, left], [b, right]) =>
        Number(signing.has(b)) - Number(signing.has(a)) ||
        right.notBefore - left.notBefore ||
        (a < b ? -1 : 1),
    )
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

/**
 * Returns the certificates that a verifier finds in a text of any author. Like Go's `encoding/pem`
 * it skips all text between blocks, which the API server allows in a bundle. Text that hides an
 * anchor from this code would not hide it from a kubelet.
 *
 * @returns the certificates by fingerprint, in order. Undefined for one that is not a CA, or that
 *   cannot be decoded.
 */
export function publishedAnchors(pem: string): ReadonlyMap<string, Certificate | undefined> {
  return new Map(
    certificateBlocks(pem).map((der) => {
      const certificate = attempt(() => decodeCertificate(der));
      const isAnchor = !(certificate instanceof SignerError) && certificate.isCa;
      return [fingerprint(der), isAnchor ? certificate : undefined];
    }),
  );
}

/**
 * Returns the fingerprints of the trust anchors of a PEM text, or none when some reader cannot
 * decode it.
 */
export function anchorFingerprints(pem: string): ReadonlySet<string> {
  const anchors = attempt(() => readAnchors(pem));
  if (anchors instanceof SignerError) return new Set();
  return new Set(anchors.map(({ raw }) => fingerprint(raw)));
}

/**
 * Returns the text without some of its {@link publishedAnchors}.
 *
 * @param isOut - by fingerprint
 * @returns the same text if no anchor is removed, or '' if none is left
 */
export function withoutAnchors(pem: string, isOut: (fingerprint: string) => boolean): string {
  const found = certificateBlocks(pem);
  const kept = found.filter((der) => !isOut(fingerprint(der)));
  if (kept.length === found.length) return pem;
  return kept.map((der) => encodePem('CERTIFICATE', der)).join('');
}

/**
 * Matches a block. Go rejects headers and other base64, but to find such a block, too, does no
 * harm.
 */
const CERTIFICATE_BLOCK = /-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g;

/** Returns the DER of each block, whatever is between them. Decodes nothing. */
export function certificateBlocks(pem: string): readonly Uint8Array[] {
  return [...pem.matchAll(CERTIFICATE_BLOCK)].map(([, base64 = '']) =>
    Buffer.from(base64, 'base64'),
  );
}
