// SPDX-License-Identifier: Apache-2.0
import { bundleName, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import type { Component } from '#component/contract.ts';
import { createClusterSigners } from '#component/signers/cluster-signers.ts';
import type { Signers } from '#component/signers/signer-set.ts';
import { createLostBundles, type LostBundles } from './lost-bundles.ts';
import { createManagedNames, type ManagedNames } from './managed-names.ts';
import { reportUnmanagedBundles } from './unmanaged-bundles.ts';

/** State of the attester: its watches, and the ClusterSigner that publishes each bundle. */
export interface AttesterState {
  readonly component: Component;
  /** The ClusterTrustBundle resource in the version that the server has. */
  readonly resource: Resource;
  readonly signers: Signers;
  readonly bundles: Reflector<ClusterTrustBundle>;
  /** Bundle name → the ClusterSigner that serves and publishes it. */
  readonly publishers: ReadonlyMap<string, ClusterSigner>;
  readonly managedNames: ManagedNames;
  readonly lost: LostBundles;
}

/** Watches ClusterSigners and bundles. Each change enqueues the bundle names that it concerns. */
export function createAttesterState(component: Component, resource: Resource): AttesterState {
  const publishers = new Map<string, ClusterSigner>();
  const managedNames = createManagedNames(component);
  const signers = createClusterSigners(component);
  const lost = createLostBundles(component.monotonic);
  signers.onChange(() => {
    const before = [...publishers.keys()];
    publishers.clear();
    for (const signer of signers.all()) {
      const { signerName, trustBundle } = signer.spec;
      if (trustBundle === undefined) continue;
      publishers.set(bundleName(signerName, trustBundle.name), signer);
    }
    enqueueAll(state, before);
    reportAll(state);
  });
  const bundles = createReflector<ClusterTrustBundle>({
    ...component,
    path: resource.collection(),
    onEvent: (name, now, before) => {
      if (now === undefined && before !== undefined) lost.gone(before);
      component.queue.add(name);
      const signer = signers.serving((now ?? before)?.spec.signerName ?? '');
      if (signer !== undefined) report(state, signer);
    },
  });
  const state = { component, resource, signers, bundles, publishers, managedNames, lost };
  component.shard.onChange(() => {
    enqueueAll(state);
    reportAll(state);
  });
  return state;
}

function enqueueAll(state: AttesterState, more: readonly string[] = []): void {
  const served = state.bundles.list().map(({ metadata }) => metadata.name);
  for (const name of [...more, ...state.publishers.keys(), ...served]) {
    state.component.queue.add(name);
  }
}

function reportAll(state: AttesterState): void {
  for (const signer of state.signers.all()) report(state, signer);
}

/**
 * Counts the bundles under the signer's name that this installation does not manage, and warns of
 * each.
 */
export function report(
  { component, bundles, managedNames }: AttesterState,
  signer: ClusterSigner,
): void {
  reportUnmanagedBundles(component, signer, bundles.list(), managedNames);
}
