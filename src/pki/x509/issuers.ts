// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '#base/bytes.ts';
import { verifySignature } from '../keys/signature-verification.ts';
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
 * Reports whether a certificate has its own name as issuer, and its own key signed it (RFC 5280
 * §3.2). A root is. The certificate by which an old key certifies a new one of the same name is
 * self-issued, and not self-signed.
 */
export function isSelfSigned(certificate: Certificate): boolean {
  return isSelfIssued(certificate) && isSignedBy(certificate, certificate);
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
): (a: A, b: B) => T {
  const known = new WeakMap<A, WeakMap<B, { readonly result: T }>>();
  return (a, b) => {
    const before = known.get(a)?.get(b);
    if (before !== undefined) return before.result;
    const result = compute(a, b);
    const ofA = known.get(a) ?? new WeakMap<B, { readonly result: T }>();
    known.set(a, ofA.set(b, { result }));
    return result;
  };
}
