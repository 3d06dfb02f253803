// SPDX-License-Identifier: Apache-2.0
import type { Component } from '#component/contract.ts';

/**
 * Bundle names of this installation, which the attester's role lists (`countersign rbac`). Any
 * client that may create bundles writes their annotations, but only an administrator writes the
 * role.
 */
export interface ManagedNames {
  /** Undefined if the name was not checked yet, or the check failed. */
  has(name: string): boolean | undefined;
  /**
   * Checks with the API server whether we may update and delete the bundle of this name.
   *
   * @throws KubeError
   */
  review(name: string): Promise<boolean>;
}

/** Maximum delay until a changed role takes effect. */
const REVIEW_AGAIN_MS = 600_000;
/**
 * Maximum number of cached names, so that a client that creates many bundles cannot exhaust memory.
 */
const MAX_MANAGED_NAMES = 1_024;

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
      if (reviewed.size >= MAX_MANAGED_NAMES) reviewed.clear();
      reviewed.set(name, { isListed: missing.length === 0, at: component.clock() });
      return missing.length === 0;
    },
  };
}
