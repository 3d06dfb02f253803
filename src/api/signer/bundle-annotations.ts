// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '../object/cluster-trust-bundle.ts';

/** The ClusterSigner that a bundle is published for. */
export const CLUSTER_SIGNER = 'countersign.dev/cluster-signer';

/** The installation that publishes it: two of them must not retire each other's bundles. */
export const SECRET_NAMESPACE = 'countersign.dev/secret-namespace';

/** Go duration: the longest leaf that any CA of the bundle may have signed. Only grows. */
export const LONGEST_LEAF = 'countersign.dev/longest-leaf';

/** JSON `{"sha256:…": "RFC 3339", …}`: until when each anchor of an earlier ClusterSigner stays. */
export const INHERITED = 'countersign.dev/inherited';

/** Made by this installation. */
export function isOurs(bundle: ClusterTrustBundle, secretNamespace: string): boolean {
  const annotations = bundle.metadata.annotations ?? {};
  return (
    annotations[SECRET_NAMESPACE] === secretNamespace && annotations[CLUSTER_SIGNER] !== undefined
  );
}

/** The name of the ClusterSigner that it was published for; '' if unknown. */
export function publisherOf(bundle: ClusterTrustBundle): string {
  return bundle.metadata.annotations?.[CLUSTER_SIGNER] ?? '';
}
