// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import { isDerivedName, isNamespaced } from '#api/signer/signer.ts';
import type { Resource } from '#kube/resource/resource.ts';
import type { Component } from '../contract.ts';
import { CLUSTER_SIGNERS, createClusterSigners } from './cluster-signers.ts';
import { SIGNERS, createNamespacedSigners } from './namespaced-signers.ts';
import type { SignerQuotaOptions } from './signer-quota.ts';
import type { Signers } from './signer-set.ts';

/** Returns the API resource of a ClusterSigner or Signer. */
export function resourceOf(signer: Pick<KubeObject, 'metadata'>): Resource {
  return isNamespaced(signer) ? SIGNERS : CLUSTER_SIGNERS;
}

/**
 * Watches ClusterSigners and, if this installation serves them (`--namespaced-signers`), Signers. A
 * key is the name of a ClusterSigner, or `namespace/name` of a Signer. Only a Signer serves a
 * derived signer name.
 */
export function watchSigners(component: Component, options: SignerQuotaOptions = {}): Signers {
  const cluster = createClusterSigners(component);
  if (!component.namespacedSigners) return cluster;
  const namespaced = createNamespacedSigners(component, options);
  const of = (key: string): Signers => (key.includes('/') ? namespaced : cluster);
  return {
    get settled() {
      return cluster.settled;
    },
    get failure() {
      return cluster.failure;
    },
    serving: (signerName) => (isDerivedName(signerName) ? namespaced : cluster).serving(signerName),
    all: () => [...cluster.all(), ...namespaced.all()],
    onChange: (listener) => {
      cluster.onChange(listener);
      namespaced.onChange(listener);
    },
    known: () => [...cluster.known(), ...namespaced.known()],
    get: (key) => of(key).get(key),
    faulty: (key) => of(key).faulty(key),
    elderOf: (key) => of(key).elderOf(key),
    keys: () => [...cluster.keys(), ...namespaced.keys()],
    run: async (signal) => {
      await Promise.all([cluster.run(signal), namespaced.run(signal)]);
    },
    warnings: () => namespaced.warnings(),
  };
}
