// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { AuthorityFacts } from '#ca/custody/contract.ts';
import type { Validity } from '#ca/issuance/validity.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import type { Certificate } from '#pki/x509/certificate.ts';

/**
 * Returns the cross-certificates to send with a leaf, for verifiers that trust only the root of the
 * previous CA.
 *
 * Returns none if the spec does not want them, if that CA is distrusted (verifiers that pin its
 * root would still accept it), or if the leaf lives longer. A chain with an expired certificate
 * fails in verifiers that build no other path, such as OpenSSL before 1.1.0, even if they have the
 * new root.
 */
export function crossCertificates(
  signer: ClusterSigner,
  { cross }: Pick<AuthorityFacts, 'cross'>,
  leaf: Validity,
): readonly Certificate[] {
  if (cross === undefined || signer.spec.authority.managed?.crossSigned !== true) return [];
  if (distrustedCas(signer)(cross.issuer)) return [];
  const { notBefore, notAfter } = cross.certificate;
  return leaf.notBefore >= notBefore && leaf.notAfter <= notAfter ? [cross.certificate] : [];
}
