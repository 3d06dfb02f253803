// SPDX-License-Identifier: Apache-2.0
import type { Component } from '../../runtime/component/component.ts';

/**
 * Bundle names of this installation: those that its role lists for the attester (`countersign rbac`). What a
 * bundle says of itself anybody may write who may create one; the role only an administrator.
 */
export interface ManagedNames {
  /** Undefined while it was not asked yet, or could not be. */
  has(name: string): boolean | undefined;
  /**
   * Asks the API server whether we may update and delete the bundle of this name.
   *
   * @throws KubeError
   */
  review(name: string): Promise<boolean>;
}

/** An administrator who changes the role is believed after so long. */
const REVIEW_AGAIN_MS = 600_000;
/** Names that were asked for; whoever makes bundles under our signer names must not fill up the process. */
const MOST_NAMES = 1_024;

export function createManagedNames(
  component: Pick<Component, 'missingPermissions' | 'clock'>,
): ManagedNames {
  const reviewed = new Map<string, { readonly isListed: boolean; readonly at: number }>();
  const fresh = (name: string): boolean | undefined => {
    const known = reviewed.get(name);
    const isFresh = known !== undefined && component.clock() < known.at + REVIEW_AGAIN_MS;
    return isFresh ? known.isListed : undefined;
  };
  return {
    has: (name) => reviewed.get(name)?.isListed,
    review: async (name) => {
      const known = fresh(name);
      if (known !== undefined) return known;
      const missing = await component.missingPermissions([
        {
          apiGroups: ['certificates.k8s.io'],
          resources: ['clustertrustbundles'],
          resourceNames: [name],
          verbs: ['update', 'delete'],
        },
      ]);
      if (reviewed.size >= MOST_NAMES) reviewed.clear();
      reviewed.set(name, { isListed: missing.length === 0, at: component.clock() });
      return missing.length === 0;
    },
  };
}
