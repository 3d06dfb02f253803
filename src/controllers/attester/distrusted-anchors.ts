// SPDX-License-Identifier: Apache-2.0
import { isDistrusted, type ClusterSigner } from '../../api/signer/cluster-signer.ts';

/**
 * Which anchors the bundle must not have: what is distrusted, and the CA that certified a distrusted
 * one's key (`crossSigned`). Its root would be the way back in: the cross-certificate was sent with each
 * leaf, and whoever has the key makes leaves below it.
 */
export function distrustedAnchors({
  spec,
  status,
}: ClusterSigner): (fingerprint: string) => boolean {
  const certifiers = new Set(
    (status?.authorities ?? [])
      .filter(({ fingerprint }) => isDistrusted(spec, fingerprint))
      .flatMap(({ crossSignedBy }) => crossSignedBy ?? []),
  );
  return (fingerprint) => isDistrusted(spec, fingerprint) || certifiers.has(fingerprint);
}
