// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { isOurs } from '../../api/signer/bundle-annotations.ts';
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { Certificate } from '../../pki/x509/certificate.ts';
import { publishedAnchors } from '../../pki/x509/trust-bundle.ts';
import { distrustedCas } from '../../rotation/distrusted-cas.ts';
import type { JudgedBy } from '../../spiffe/judge-bundle.ts';
import { sameCaAs } from './decide.ts';

/**
 * The CAs of every bundle that this installation publishes and of every ClusterSigner of it, and every CA that one of these
 * distrusts. Another installation of the same cluster may be federated with.
 */
export function ownCas(
  signers: readonly ClusterSigner[],
  bundles: readonly ClusterTrustBundle[],
  secretNamespace: string,
): JudgedBy['isOurs'] {
  // Annotations are anybody's who may write some bundle; to name a signer in one takes the verb `attest` on it.
  const published = bundles.filter(
    (each) => each.spec.signerName !== undefined && isOurs(each, secretNamespace),
  );
  const texts = [
    ...published.map(({ spec }) => spec.trustBundle),
    ...signers.flatMap(({ status }) => (status?.authorities ?? []).map((each) => each.anchors)),
  ];
  const own = texts.flatMap((text = '') => [...publishedAnchors(text).values()]);
  const distrusts = signers.map(distrustedCas);
  return sameCaAs(
    own.filter((each): each is Certificate => each !== undefined),
    (print) => distrusts.some((isDistrusted) => isDistrusted(print)),
  );
}
