// SPDX-License-Identifier: Apache-2.0
import type { Component } from '../../runtime/component/component.ts';

/**
 * Bundle names of this installation: those that the attester's role lists (`countersign rbac`). Any client
 * that may create bundles writes their annotations; only an administrator writes the role.
 */
export interface ManagedNames {
  /** Undefined if it was not checked yet, or the check failed. */
  has(name: string): boolean | undefined;
  /**
   * Asks the API server whether we may update and delete the bundle of this name.
   *
   * @throws KubeError
   */
  review(name: string): Promise<boolean>;
}

/** A changed role takes effect after this time. */
const REVIEW_AGAIN_MS = 600_000;
/** Names kept in memory; a client that creates many bundles must not exhaust it. */
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
