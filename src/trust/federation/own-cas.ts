// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { isManaged } from '#api/signer/bundle-annotations.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { publishedAnchors } from '#pki/x509/trust-bundle.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import type { BundleCriteria } from '../spiffe/judge-bundle.ts';
import { sameCaAs } from './decide.ts';

/**
 * Returns a predicate for CAs that no foreign bundle may contain: those that this installation
 * publishes or lists in a ClusterSigner, and those that a ClusterSigner distrusts. Another
 * installation in the same cluster may be federated with.
 */
export function ownCas(
  signers: readonly ClusterSigner[],
  bundles: readonly ClusterTrustBundle[],
  secretNamespace: string,
): BundleCriteria['isManaged'] {
  // Every writer of a bundle can set annotations. A signer name in a bundle requires the verb
  // `attest`.
  const published = bundles.filter(
    (each) => each.spec.signerName !== undefined && isManaged(each, secretNamespace),
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
