// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '../object/cluster-trust-bundle.ts';

/** The ClusterSigner whose bundle it is. */
export const CLUSTER_SIGNER = 'countersign.dev/cluster-signer';

/** The installation that publishes it. Two installations must not retire each other's bundles. */
export const SECRET_NAMESPACE = 'countersign.dev/secret-namespace';

/** Go duration: the longest leaf that any CA of the bundle may have signed. It only grows. */
export const LONGEST_LEAF = 'countersign.dev/longest-leaf';

/**
 * JSON `{"sha256:…": "RFC 3339", …}`: time until which each anchor of an earlier ClusterSigner
 * stays.
 */
export const INHERITED = 'countersign.dev/inherited';

/** Reports whether this installation created the bundle. */
export function isManaged(bundle: ClusterTrustBundle, secretNamespace: string): boolean {
  const annotations = bundle.metadata.annotations ?? {};
  return (
    annotations[SECRET_NAMESPACE] === secretNamespace && annotations[CLUSTER_SIGNER] !== undefined
  );
}

/** Returns the name of the ClusterSigner whose bundle it is, or '' if unknown. */
export function publisherOf(bundle: ClusterTrustBundle): string {
  return bundle.metadata.annotations?.[CLUSTER_SIGNER] ?? '';
}
