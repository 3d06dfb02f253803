// SPDX-License-Identifier: Apache-2.0
import type { NameClaimant } from '#api/signer/name-conflict.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import type { Component } from '../contract.ts';
import { CLUSTER_SIGNERS } from './cluster-signers.ts';

/** The signer names that ClusterSigners claim. */
export interface ClaimedNames {
  readonly watch: Pick<Reflector<NameClaimant>, 'run' | 'whenSynced' | 'failure'>;
  /** Returns the name of a ClusterSigner with this signer name: the first one of several. */
  readonly claimantOf: (signerName: string) => string | undefined;
}

/**
 * Watches the signer names of ClusterSigners. For signers of other kinds, a ClusterSigner has
 * precedence, whichever is older, because its components do not know these kinds.
 *
 * @param onChange - called with the signer names of a change
 */
export function watchClaimedNames(
  component: Component,
  onChange: (signerNames: readonly string[]) => void,
): ClaimedNames {
  /** Signer name → names of ClusterSigners. */
  const claims = new Map<string, Set<string>>();
  const watch = createReflector<NameClaimant>({
    ...component,
    path: CLUSTER_SIGNERS.collection(),
    transform: ({ apiVersion, kind, metadata, spec: { signerName } }) => ({
      apiVersion,
      kind,
      metadata,
      spec: { signerName },
    }),
    onEvent: (name, now, before) => {
      if (before !== undefined) release(claims, before.spec.signerName, name);
      if (now !== undefined) {
        const { signerName } = now.spec;
        claims.set(signerName, (claims.get(signerName) ?? new Set()).add(name));
      }
      onChange([now, before].flatMap((each) => each?.spec.signerName ?? []));
    },
  });
  return {
    watch,
    claimantOf: (signerName) => [...(claims.get(signerName) ?? [])].sort()[0],
  };
}

/** Removes one claim. Another ClusterSigner may still claim the signer name. */
function release(claims: Map<string, Set<string>>, signerName: string, name: string): void {
  const names = claims.get(signerName);
  names?.delete(name);
  if (names?.size === 0) claims.delete(signerName);
}
