// SPDX-License-Identifier: Apache-2.0
import { servedSince, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { publishedAnchors } from '#pki/x509/trust-bundle.ts';
import type { SeriesRecorder } from '#component/metric.ts';
import { BUNDLE_SERIES } from './metrics.ts';

/**
 * Updates the metrics for alerts on a published bundle. Skips an unreadable one, which is soon
 * repaired.
 */
export function measureBundle(
  metrics: SeriesRecorder,
  signer: string,
  bundle: ClusterTrustBundle,
): void {
  const found = publishedAnchors(bundle.spec.trustBundle);
  const anchors = [...found.values()].filter((each) => each !== undefined);
  if (anchors.length === 0) return;
  const since = [...servedSince(bundle).values()];
  const { certificates, notAfter, published } = metrics.of(BUNDLE_SERIES);
  certificates.set({ signer }, found.size);
  notAfter.set({ signer }, Math.min(...anchors.map((each) => each.notAfter)) / 1000);
  published.set({ signer }, Math.max(0, ...since) / 1000);
}
