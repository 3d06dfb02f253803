// SPDX-License-Identifier: Apache-2.0
import { bundleName, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Component } from '#component/contract.ts';
import { isManaged } from '#api/signer/bundle-annotations.ts';
import type { ManagedNames } from './managed-names.ts';
import * as messages from './messages.ts';
import { BUNDLE_SERIES } from './metrics.ts';

/**
 * Returns bundles under a served signer name that are neither the published one nor a retired one
 * of this installation. A retired one has our annotations, and our role lists its name.
 *
 * The kubelet merges all matching bundles of a signer, so each adds trust. Bundles whose names were
 * not checked yet are left to the next report.
 */
function unmanagedBundles(
  signer: ClusterSigner,
  bundles: readonly ClusterTrustBundle[],
  secretNamespace: string,
  names: Pick<ManagedNames, 'has'>,
): readonly ClusterTrustBundle[] {
  const { signerName, trustBundle } = signer.spec;
  const own = trustBundle && bundleName(signerName, trustBundle.name);
  return bundles.filter(
    (bundle) =>
      bundle.spec.signerName === signerName &&
      bundle.metadata.name !== own &&
      !(isManaged(bundle, secretNamespace) && names.has(bundle.metadata.name) !== false),
  );
}

/**
 * Counts unmanaged bundles in every replica. The replica that owns the signer name records an Event
 * on each bundle.
 */
export function reportUnmanagedBundles(
  component: Component,
  signer: ClusterSigner,
  bundles: readonly ClusterTrustBundle[],
  names: Pick<ManagedNames, 'has'>,
): void {
  const found = unmanagedBundles(signer, bundles, component.secretNamespace, names);
  const { signerName } = signer.spec;
  component.metrics.of(BUNDLE_SERIES).foreign.set({ signer: signerName }, found.length);
  if (!component.shard.owns(signerName)) return;
  for (const { apiVersion, kind, metadata } of found) {
    const note = messages.foreignBundle(signerName, signer.metadata.name);
    component.log.warn({ kind, name: metadata.name, signer: signerName }, note);
    component.events.record({
      regarding: { apiVersion, kind, name: metadata.name, uid: metadata.uid },
      type: 'Warning',
      reason: 'ForeignBundle',
      action: 'Attest',
      note,
    });
  }
}
