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
 * Verdict on the CA that issued a certificate:
 * - `issued`: one of these CAs did, by the record of the certificate or by its signature. A CA that
 *   was renewed with the same key and name has its predecessor beside it.
 * - `forged`: the certificate names the key of a CA and does not have its signature. A previous CA
 *   can have the name of the present one, and is missing after the loss of a status.
 * - `unknown`: the status of the signer has no such CA.
 */
export type IssuerVerdict =
  /** `sha256:<hex>` of each CA, at least one. */
  | { readonly kind: 'issued'; readonly authorities: readonly string[] }
  | { readonly kind: 'forged' | 'unknown' };

/** The CAs of signers, and the certificates that they issued. */
export interface Issuers {
  /** Returns the CAs in the status of a signer whose certificates are known. */
  readonly casOf: (signerName: string) => readonly Certificate[];
  /** Verifies each certificate once. */
  readonly verdictOn: (found: FoundCertificate) => IssuerVerdict;
}

/**
 * Reads the CAs in the statuses of signers, those of each signer once.
 *
 * @param found - all certificates. A chain can have an intermediate CA that the status names by its
 *   fingerprint alone, also for certificates without a chain.
 */
export function readIssuers(
  signers: readonly ClusterSigner[],
  found: readonly FoundCertificate[],
): Issuers {
  const chained = new Map(
    found.flatMap(({ chain: [, ...above] }) => above.map((ca) => [fingerprint(ca.raw), ca])),
  );
  const casOf = remembered((signerName: string) => readCas(signers, signerName, chained));
  return { casOf, verdictOn: remembered((each) => judgeIssuer(each, casOf(each.signerName))) };
}

function readCas(
  signers: readonly ClusterSigner[],
  signerName: string,
  chained: ReadonlyMap<string, Certificate>,
): readonly Certificate[] {
  const { status } = signers.find(({ spec }) => spec.signerName === signerName) ?? {};
  const authorities = status?.authorities ?? [];
  const anchors = authorities.flatMap(({ anchors: text = '' }) => {
    const read = attempt(() => readAnchors(text));
    return read instanceof SignerError ? [] : read;
  });
  const known = new Map(anchors.map((ca) => [fingerprint(ca.raw), ca]));
  // A cross-certificate has the name and the key of a CA as well, but the status omits it.
  return authorities.flatMap((each) => {
    const ca = known.get(each.fingerprint) ?? chained.get(each.fingerprint);
    return ca === undefined ? [] : [ca];
  });
}

function judgeIssuer(
  { authority, chain: [leaf] }: FoundCertificate,
  cas: readonly Certificate[],
): IssuerVerdict {
  const named = issuersOf(leaf, cas);
  const issuers = named.filter((ca) => isSignedBy(leaf, ca)).map(({ raw }) => fingerprint(raw));
  // A verifier takes the CRL of any CA with the key and the name, so a record is not enough.
  const authorities = [...new Set([...(authority === undefined ? [] : [authority]), ...issuers])];
  if (authorities.length > 0) return { kind: 'issued', authorities };
  return { kind: named.some((ca) => namesKeyOf(leaf, ca)) ? 'forged' : 'unknown' };
}

/** Reports whether a certificate names the key of this CA. Without an identifier, the name does. */
function namesKeyOf({ authorityKeyIdentifier: wanted }: Certificate, ca: Certificate): boolean {
  return wanted === undefined || sameBytes(ca.subjectKeyIdentifier, wanted);
}

/** Certificates of signers by whether a CA of their signer issued them. */
export interface SortedCertificates {
  /**
   * Each with its CA, or with that of the same bytes elsewhere. Without one if several CAs may have
   * issued it, or if the status lacks its CA, and only the signer could write
   * the certificate: a status may be lost.
   */
  readonly issued: readonly FoundCertificate[];
  /** Those that a tenant wrote, or that name the key of a CA and do not have its signature. */
  readonly foreign: readonly FoundCertificate[];
}

/** Sorts certificates by their {@link IssuerVerdict}. */
export function sortByIssuer(
  { verdictOn }: Issuers,
  found: readonly FoundCertificate[],
): SortedCertificates {
  const known = new Map<string, ReadonlySet<string>>();
  for (const each of found) {
    const issuer = verdictOn(each);
    const id = identityOf(each);
    if (issuer.kind === 'issued')
      known.set(id, new Set([...(known.get(id) ?? []), ...issuer.authorities]));
  }
  const onlyCaOf = (each: FoundCertificate): string | undefined => {
    const [one, ...more] = known.get(identityOf(each)) ?? [];
    return more.length === 0 ? one : undefined;
  };
  const isForeign = (each: FoundCertificate): boolean =>
    !known.has(identityOf(each)) &&
    (each.isUnguarded === true || verdictOn(each).kind === 'forged');
  const issued = found
    .filter((each) => !isForeign(each))
    .map(({ authority: _, ...each }) => ({ ...each, ...present('authority', onlyCaOf(each)) }));
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
