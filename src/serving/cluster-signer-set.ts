// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../api/cluster-signer.ts';
import type { Component } from './component.ts';
import type { SignerSet } from './signer-set.ts';
import { createSigners } from './signers.ts';

/** ClusterSigners for one loop; whatever changes of one wakes all requests of its signer name. */
export function watchClusterSigners(component: Component): SignerSet<ClusterSigner> {
  const listeners: ((signerNames: readonly string[]) => void)[] = [];
  const signers = createSigners(component, (_names, signerNames) => {
    for (const listener of listeners) listener(signerNames);
  });
  return {
    get settled() {
      return signers.settled;
    },
    get failure() {
      return signers.reflector.failure;
    },
    serving: (signerName) => signers.serving(signerName),
    all: () => signers.all(),
    onChange: (listener) => {
      listeners.push(listener);
    },
    run: (signal) => signers.reflector.run(signal),
  };
}
