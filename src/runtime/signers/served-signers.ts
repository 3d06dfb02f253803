// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { createAllSigners } from './all-signers.ts';
import type { Component } from '../component/component.ts';
import type { SignerSet } from './signer-set.ts';

/** The signers of our own kinds for one loop; whatever changes of one wakes all requests of its signer name. */
export function watchSigners(component: Component): SignerSet<ClusterSigner> {
  const listeners: ((signerNames: readonly string[]) => void)[] = [];
  const signers = createAllSigners(component, (_keys, signerNames) => {
    for (const listener of listeners) listener(signerNames);
  });
  return {
    get settled() {
      return signers.settled;
    },
    get failure() {
      return signers.failure;
    },
    serving: (signerName) => signers.serving(signerName),
    all: () => signers.all(),
    onChange: (listener) => {
      listeners.push(listener);
    },
    run: (signal) => signers.run(signal),
    warnings: () => signers.warnings(),
  };
}
