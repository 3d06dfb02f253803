// SPDX-License-Identifier: Apache-2.0
import type { InstallationPlan } from '../installation-plan.ts';
import { LABELS } from '../names.ts';
import type { Manifest } from '../roles.ts';

/**
 * Returns the namespaces that an installation creates. Keys are in their own namespace: a user who
 * may create Secrets beside ServiceAccounts can mint their tokens, and `authority` must create
 * Secrets.
 */
export function namespaces({ namespaces: names }: InstallationPlan): readonly Manifest[] {
  return namespacesOf(names);
}

/** Returns namespaces for Countersign only. */
export function namespacesOf(names: readonly string[]): readonly Manifest[] {
  return names.map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: {
        ...LABELS,
        'pod-security.kubernetes.io/enforce': 'restricted',
        'pod-security.kubernetes.io/warn': 'restricted',
      },
    },
  }));
}
