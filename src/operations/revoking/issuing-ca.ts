// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { isSignedBy, issuersOf } from '#pki/x509/issuers.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import type { FoundCertificate } from './find-certificates.ts';

/**
 * Returns the fingerprint of the CA that issued a certificate: from its record, or the CA in the
 * status of the signer whose key verifies the signature. Undefined if the signer has no such CA:
 * a user who may write the status of a request can write any certificate there.
 */
export function issuingCa(
  signers: readonly ClusterSigner[],
  { signerName, chain: [leaf, ...above], authority }: FoundCertificate,
): string | undefined {
  if (authority !== undefined) return authority;
  const { status } = signers.find(({ spec }) => spec.signerName === signerName) ?? {};
  const authorities = status?.authorities ?? [];
  const listed = authorities.flatMap(({ anchors = '' }) => {
    const read = attempt(() => readAnchors(anchors));
    return read instanceof SignerError ? [] : read;
  });
  // A cross-certificate has the name and the key of a CA as well, but the status omits it.
  const own = new Set(authorities.map((each) => each.fingerprint));
  const issuer = issuersOf(leaf, [...listed, ...above]).find(
    (ca) => own.has(fingerprint(ca.raw)) && isSignedBy(leaf, ca),
  );
  return issuer && fingerprint(issuer.raw);
}

/** Certificates of signers by whether a CA of their signer issued them. */
export interface SortedCertificates {
  /** Each with its CA, or with the same bytes as one that has it. */
  readonly issued: readonly FoundCertificate[];
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
  const issued = found.flatMap((each) => {
    const authority = known.get(identityOf(each));
    return authority === undefined ? [] : [{ ...each, authority }];
  });
  return { issued, foreign: found.filter((each) => !known.has(identityOf(each))) };
}

function identityOf({ signerName, chain: [leaf] }: FoundCertificate): string {
  return `${signerName} ${fingerprint(leaf.raw)}`;
}
