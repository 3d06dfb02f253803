// SPDX-License-Identifier: Apache-2.0

/** Where an installation keeps its Leases. */
export interface LeasePlace {
  readonly namespace: string;
  /** What tells installations apart: the namespaces of their CA Secrets. One, but for printed roles. */
  readonly secretNamespaces: readonly string[];
}

/** The Lease whose holder does the work that only one replica of a component is to do. */
export function leaderLease(component: string, secretNamespace: string): string {
  return `countersign-${component}.${secretNamespace}`;
}

/** By these the replicas of one component in one installation find each other. */
export function leaseLabels(
  component: string,
  secretNamespace: string,
): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': 'countersign',
    'app.kubernetes.io/component': component,
    'countersign.dev/secret-namespace': secretNamespace,
  };
}
