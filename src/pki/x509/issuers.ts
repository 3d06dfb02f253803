// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '#base/bytes.ts';
import { isVerifiable, verifySignature } from '../keys/signature-verification.ts';
import { isSelfIssued, type Certificate } from './certificate.ts';

/**
 * Reports whether the key of `issuer` verifies the signature of `child`. The signature of a CA is
 * verified once for each pair of decoded certificates, because the path from a CA to its anchor is
 * the same for every leaf.
 */
export function isSignedBy(child: Certificate, issuer: Certificate): boolean {
  return child.isCa ? signedByCa(child, issuer) : verify(child, issuer);
}

const signedByCa = perPair(verify);

/**
 * The limit of signatures that one search verifies. With cross-signed intermediates of one name, a
 * search without this limit is exponential (CVE-2018-16875).
 */
export const MAX_SIGNATURES = 64;

/**
 * Limits the signatures that several searches of the same certificates verify together. A signature
 * of a CA that was verified before costs nothing more.
 */
export class SignatureBudget {
  /** The number of signatures at the start. */
  readonly most: number;
  #left: number;

  constructor(most = MAX_SIGNATURES) {
    this.most = most;
    this.#left = most;
  }

  /** Returns what {@link isSignedBy} returns, or undefined if the budget is spent. */
  isSignedBy(child: Certificate, issuer: Certificate): boolean | undefined {
    if (child.isCa && signedByCa.knows(child, issuer)) return signedByCa(child, issuer);
    if (this.#left === 0) return undefined;
    this.#left -= 1;
    return isSignedBy(child, issuer);
  }

  /** Reports what {@link isSelfSigned} reports, or by the names alone if the budget is spent. */
  isSelfSigned(certificate: Certificate): boolean {
    return selfSignedBy(certificate, (child, issuer) => this.isSignedBy(child, issuer)) !== false;
  }
}

/**
 * Reports whether a certificate has its own name as issuer, and its own key signed it (RFC 5280
 * §3.2). A root is. The certificate by which an old key certifies a new one of the same name is
 * self-issued, and not self-signed.
 */
export function isSelfSigned(certificate: Certificate): boolean {
  return selfSignedBy(certificate, isSignedBy) === true;
}

/**
 * Like OpenSSL (X509v3_cache_extensions), this takes a self-issued certificate for a root by its
 * key identifiers, if the algorithm of its signature is not supported. No verifier verifies the
 * signature of an anchor, and old roots have one by SHA-1.
 */
function selfSignedBy(
  certificate: Certificate,
  verifies: (child: Certificate, issuer: Certificate) => boolean | undefined,
): boolean | undefined {
  if (!isSelfIssued(certificate)) return false;
  if (isVerifiable(certificate.signatureAlgorithm)) return verifies(certificate, certificate);
  const { authorityKeyIdentifier: issuer, subjectKeyIdentifier: own } = certificate;
  return issuer === undefined || own === undefined || sameBytes(issuer, own);
}

function verify({ signatureAlgorithm, tbs, signature }: Certificate, issuer: Certificate): boolean {
  return verifySignature(issuer.publicKey, signatureAlgorithm, tbs, signature);
}

/**
 * Returns the certificates whose name is the issuer of `child`, byte for byte. Those with a
 * matching key identifier come first (RFC 4158 §3.5.12). For a CA they are selected once for each
 * list, which must not be modified.
 */
export function issuersOf(
  child: Certificate,
  from: readonly Certificate[],
): readonly Certificate[] {
  return child.isCa ? issuersOfCa(child, from) : select(child, from);
}

const issuersOfCa = perPair(select);

function select(child: Certificate, from: readonly Certificate[]): readonly Certificate[] {
  const wanted = child.authorityKeyIdentifier;
  const fits = ({ subjectKeyIdentifier: found }: Certificate): number =>
    wanted === undefined || found === undefined ? 1 : sameBytes(wanted, found) ? 0 : 2;
  return from
    .filter((each) => sameBytes(each.subject.raw, child.issuer.raw))
    .sort((a, b) => fits(a) - fits(b));
}

/**
 * Returns the certificate of the list with the same bytes, if there is one. It compares once for
 * each list.
 */
export const sameIn: (
  certificate: Certificate,
  list: readonly Certificate[],
) => Certificate | undefined = perPair(({ raw }: Certificate, list: readonly Certificate[]) =>
  list.find((each) => sameBytes(each.raw, raw)),
);

/** Computes once for each pair of objects, for as long as both are in use. */
function perPair<A extends object, B extends object, T>(
  compute: (a: A, b: B) => T,
): PerPair<A, B, T> {
  const known = new WeakMap<A, WeakMap<B, { readonly result: T }>>();
  const resultOf = (a: A, b: B): T => {
    const before = known.get(a)?.get(b);
    if (before !== undefined) return before.result;
    const result = compute(a, b);
    const ofA = known.get(a) ?? new WeakMap<B, { readonly result: T }>();
    known.set(a, ofA.set(b, { result }));
    return result;
  };
  return Object.assign(resultOf, { knows: (a: A, b: B) => known.get(a)?.has(b) === true });
}

interface PerPair<A, B, T> {
  (a: A, b: B): T;
  /** Reports whether the result is computed. */
  readonly knows: (a: A, b: B) => boolean;
}
