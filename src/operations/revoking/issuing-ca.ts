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
 * The judgement about the CA that issued a certificate:
 * - `issued`: this CA did, by the record of the certificate or by its signature.
 * - `forged`: the certificate names the key of a CA and does not have its signature. A previous CA
 *   can have the name of the present one, and is missing after the loss of a status.
 * - `unknown`: the status of the signer has no such CA.
 */
export type IssuerVerdict =
  /** `sha256:<hex>` of the CA. */
  { readonly kind: 'issued'; readonly authority: string } | { readonly kind: 'forged' | 'unknown' };

/** Judges the issuer of a certificate. */
export type IssuerOf = (found: FoundCertificate) => IssuerVerdict;

/**
 * Returns a function that judges issuers by the statuses of these signers. It reads the CAs of each
 * signer once, and verifies each certificate once.
 */
export function issuerReader(signers: readonly ClusterSigner[]): IssuerOf {
  const casOf = remembered((signerName: string) => readCas(signers, signerName));
  return remembered((found: FoundCertificate) => judgeIssuer(found, casOf));
}

/** The CAs in the status of a signer. */
interface SignerCas {
  /** Their trust anchors, which may lack an intermediate CA. */
  readonly anchors: readonly Certificate[];
  readonly fingerprints: ReadonlySet<string>;
}

function readCas(signers: readonly ClusterSigner[], signerName: string): SignerCas {
  const { status } = signers.find(({ spec }) => spec.signerName === signerName) ?? {};
  const authorities = status?.authorities ?? [];
  const anchors = authorities.flatMap(({ anchors: text = '' }) => {
    const read = attempt(() => readAnchors(text));
    return read instanceof SignerError ? [] : read;
  });
  return { anchors, fingerprints: new Set(authorities.map((each) => each.fingerprint)) };
}

function judgeIssuer(
  { authority, signerName, chain: [leaf, ...above] }: FoundCertificate,
  casOf: (signerName: string) => SignerCas,
): IssuerVerdict {
  if (authority !== undefined) return { kind: 'issued', authority };
  const { anchors, fingerprints } = casOf(signerName);
  // A cross-certificate has the name and the key of a CA as well, but the status omits it.
  const named = issuersOf(leaf, [...anchors, ...above]).filter((ca) =>
    fingerprints.has(fingerprint(ca.raw)),
  );
  const issuer = named.find((ca) => isSignedBy(leaf, ca));
  if (issuer !== undefined) return { kind: 'issued', authority: fingerprint(issuer.raw) };
  return { kind: named.some((ca) => namesKeyOf(leaf, ca)) ? 'forged' : 'unknown' };
}

/** Reports whether a certificate names the key of this CA. Without an identifier, the name does. */
function namesKeyOf({ authorityKeyIdentifier: wanted }: Certificate, ca: Certificate): boolean {
  return wanted === undefined || sameBytes(ca.subjectKeyIdentifier, wanted);
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

/** Sorts certificates by their {@link IssuerVerdict}. */
export function sortByIssuer(
  issuerOf: IssuerOf,
  found: readonly FoundCertificate[],
): SortedCertificates {
  const known = new Map(
    found.flatMap((each) => {
      const issuer = issuerOf(each);
      return issuer.kind === 'issued' ? [[identityOf(each), issuer.authority] as const] : [];
    }),
  );
  const isForeign = (each: FoundCertificate): boolean =>
    !known.has(identityOf(each)) && (each.isUnguarded === true || issuerOf(each).kind === 'forged');
  const issued = found
    .filter((each) => !isForeign(each))
    .map((each) => ({ ...each, ...present('authority', known.get(identityOf(each))) }));
  return { issued, foreign: found.filter(isForeign) };
}

function identityOf({ signerName, chain: [leaf] }: FoundCertificate): string {
  return `${signerName} ${fingerprint(leaf.raw)}`;
}

/** Computes once for each key. */
function remembered<K, T extends object>(compute: (key: K) => T): (key: K) => T {
  const known = new Map<K, T>();
  return (key) => {
    const result = known.get(key) ?? compute(key);
    known.set(key, result);
    return result;
  };
}
