// SPDX-License-Identifier: Apache-2.0
import { bundleName, type ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { Component } from '../../runtime/component/component.ts';
import { isOurs } from '../../api/signer/bundle-annotations.ts';
import type { ManagedNames } from './managed-names.ts';

/**
 * Bundles under a served signer name that are neither the published one nor a retired one of ours. A retired
 * one has our annotations, and our role lists its name. The kubelet merges all bundles of a signer that a
 * selector matches, so each of them adds trust. A bundle whose name was not checked yet is left to the next
 * report.
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
      !(isOurs(bundle, secretNamespace) && names.has(bundle.metadata.name) !== false),
  );
}

/** Every replica counts them; the one that owns the signer name records an Event on each bundle. */
export function reportUnmanagedBundles(
  component: Component,
  signer: ClusterSigner,
  bundles: readonly ClusterTrustBundle[],
  names: Pick<ManagedNames, 'has'>,
): void {
  const found = unmanagedBundles(signer, bundles, component.secretNamespace, names);
  const { signerName } = signer.spec;
  component.metrics.foreignBundles(signerName, found.length);
  if (!component.shard.owns(signerName)) return;
  for (const { apiVersion, kind, metadata } of found) {
    const note = `this bundle adds trust anchors under ${signerName}, but ClusterSigner ${signer.metadata.name} does not publish it; delete it unless you know who created it`;
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
