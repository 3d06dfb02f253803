// SPDX-License-Identifier: Apache-2.0
import { servedSince, type ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { SignerError, attempt } from '../../errors.ts';
import { readAnchors } from '../../pki/x509/trust-bundle.ts';
import type { TrustMetrics } from '../../runtime/component/metrics.ts';

/** The metrics for alerts on a published bundle. An unreadable bundle is soon repaired. */
export function measureBundle(
  metrics: Pick<TrustMetrics, 'bundle'>,
  signerName: string,
  bundle: ClusterTrustBundle,
): void {
  const anchors = attempt(() => readAnchors(bundle.spec.trustBundle));
  if (anchors instanceof SignerError || anchors.length === 0) return;
  const since = [...servedSince(bundle).values()];
  metrics.bundle(signerName, {
    certificates: anchors.length,
    notAfter: Math.min(...anchors.map(({ notAfter }) => notAfter)) / 1000,
    published: Math.max(0, ...since) / 1000,
  });
}
