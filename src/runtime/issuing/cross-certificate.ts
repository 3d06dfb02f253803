// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { AuthorityFacts } from '../../authorities/contract.ts';
import type { Validity } from '../../issuance/validity.ts';
import { distrustedCas } from '../../rotation/distrusted-cas.ts';
import type { Certificate } from '../../pki/x509/certificate.ts';

/**
 * What is sent with a leaf for verifiers that have only the root of the CA before: nothing where the spec
 * does not want it, where that CA is distrusted (whoever pins its root would believe it all the same), and
 * where the leaf lives longer. A chain with an expired certificate in it fails with verifiers that look
 * for no other way, such as OpenSSL before 1.1.0, also with those that have the new root.
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
