// SPDX-License-Identifier: Apache-2.0
import type { ClusterSignerStatus } from '#api/signer/cluster-signer.ts';
import { anchorFingerprints } from '#pki/x509/trust-bundle.ts';

/**
 * Returns the fingerprints of the anchors of the CA that signs. They come first in what is
 * published: those of a prepared CA follow until it signs, so that the order changes once.
 */
export function signingAnchors(status: ClusterSignerStatus | undefined): ReadonlySet<string> {
  const active = (status?.authorities ?? []).filter(({ phase }) => phase === 'Active');
  return anchorFingerprints(active.map(({ anchors = '' }) => anchors).join('\n'));
}
