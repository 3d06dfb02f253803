// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../api/object/object.ts';
import { isDerivedName, isNamespaced } from '../../api/signer/signer.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import type { Component } from '../component/component.ts';
import { SIGNERS, createNamespacedSigners } from './namespaced-signers.ts';
import { CLUSTER_SIGNERS, createSigners, type OnSigners, type Signers } from './signers.ts';

/** Where a ClusterSigner, or a Signer, lives in the API. */
export function resourceOf(signer: Pick<KubeObject, 'metadata'>): Resource {
  return isNamespaced(signer) ? SIGNERS : CLUSTER_SIGNERS;
}

/**
 * ClusterSigners, and Signers where this installation serves them (`--namespaced-signers`). A key is
 * a ClusterSigner's name, or a Signer's `namespace/name`; a derived signer name is a Signer's alone.
 */
export function createAllSigners(component: Component, onChange: OnSigners): Signers {
  const cluster = createSigners(component, onChange);
  if (!component.namespacedSigners) return cluster;
  const namespaced = createNamespacedSigners(component, onChange);
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
