// SPDX-License-Identifier: Apache-2.0
import { servedSince, type ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { publishedAnchors } from '../../pki/x509/trust-bundle.ts';
import type { TrustMetrics } from '../../runtime/component/metrics.ts';

/** The metrics for alerts on a published bundle. An unreadable bundle is soon repaired. */
export function measureBundle(
  metrics: Pick<TrustMetrics, 'bundle'>,
  signerName: string,
  bundle: ClusterTrustBundle,
): void {
  const found = publishedAnchors(bundle.spec.trustBundle);
  const anchors = [...found.values()].filter((each) => each !== undefined);
  if (anchors.length === 0) return;
  const since = [...servedSince(bundle).values()];
  metrics.bundle(signerName, {
    certificates: found.size,
    notAfter: Math.min(...anchors.map(({ notAfter }) => notAfter)) / 1000,
    published: Math.max(0, ...since) / 1000,
  });
}
