// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { sameBytes } from '#base/bytes.ts';
import { present } from '#base/object-keys.ts';
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { isSignedBy, issuersOf } from '#pki/x509/issuers.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import type { FoundCertificate } from './find-certificates.ts';

/**
 * Returns the fingerprint of the CA that issued a certificate: from its record, or the CA in the
 * status of the signer whose key verifies the signature. Undefined if the status has no such CA.
 */
export function issuingCa(
  signers: readonly ClusterSigner[],
  found: FoundCertificate,
): string | undefined {
  if (found.authority !== undefined) return found.authority;
  const [leaf] = found.chain;
  const issuer = namedCas(signers, found).find((ca) => isSignedBy(leaf, ca));
  return issuer && fingerprint(issuer.raw);
}

/** Returns the CAs in the status of the signer that have the name of the certificate's issuer. */
function namedCas(
  signers: readonly ClusterSigner[],
  { signerName, chain: [leaf, ...above] }: FoundCertificate,
): readonly Certificate[] {
  const { status } = signers.find(({ spec }) => spec.signerName === signerName) ?? {};
  const authorities = status?.authorities ?? [];
  const listed = authorities.flatMap(({ anchors = '' }) => {
    const read = attempt(() => readAnchors(anchors));
    return read instanceof SignerError ? [] : read;
  });
  // A cross-certificate has the name and the key of a CA as well, but the status omits it.
  const own = new Set(authorities.map((each) => each.fingerprint));
  return issuersOf(leaf, [...listed, ...above]).filter((ca) => own.has(fingerprint(ca.raw)));
}

/** Certificates of signers by whether a CA of their signer issued them. */
export interface SortedCertificates {
  /**
   * Each with its CA, or with that of the same bytes elsewhere. Without one if the status lacks its
   * CA, and only the signer could write the certificate: a status may be lost.
   */
  readonly issued: readonly FoundCertificate[];
  /** Those that a tenant wrote, or that name the key of a CA and do not have its signature. */
  readonly foreign: readonly FoundCertificate[];
}

/** Sorts certificates by {@link issuingCa}. */
export function sortByIssuer(
  signers: readonly ClusterSigner[],
  found: readonly FoundCertificate[],
): SortedCertificates {
  const known = new Map(
    found.flatMap((each) => {
      const authority = issuingCa(signers, each);
      return authority === undefined ? [] : [[identityOf(each), authority] as const];
    }),
  );
  const isForeign = (each: FoundCertificate): boolean =>
    !known.has(identityOf(each)) && (each.isUnguarded === true || isForged(signers, each));
  const issued = found
    .filter((each) => !isForeign(each))
    .map((each) => ({ ...each, ...present('authority', known.get(identityOf(each))) }));
  return { issued, foreign: found.filter(isForeign) };
}

/**
 * Reports whether a certificate without the signature of a CA names the key of one. A previous CA
 * can have the name of the present one, and is missing after the loss of a status.
 */
function isForged(signers: readonly ClusterSigner[], found: FoundCertificate): boolean {
  const { authorityKeyIdentifier } = found.chain[0];
  return namedCas(signers, found).some(
    ({ subjectKeyIdentifier }) =>
      authorityKeyIdentifier === undefined ||
      sameBytes(subjectKeyIdentifier, authorityKeyIdentifier),
  );
}

function identityOf({ signerName, chain: [leaf] }: FoundCertificate): string {
  return `${signerName} ${fingerprint(leaf.raw)}`;
}
