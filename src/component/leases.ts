// SPDX-License-Identifier: Apache-2.0
import { LABEL_COMPONENT, LABEL_NAME } from '#kube/resource/labels.ts';
import type { Random } from '#base/ports.ts';

/** The place of an installation's Leases. */
export interface LeasePlace {
  readonly namespace: string;
  /**
   * The namespaces of the CA Secrets, which distinguish installations. There is one, except for
   * printed roles.
   */
  readonly secretNamespaces: readonly string[];
}

/**
 * Returns the name prefix of a component's Leases. The prefix of a component with a leader ends in
 * a dot, so that of `acme` does not match `acme-solver`.
 *
 * @param leads - true if one replica leads
 */
export function leasePrefix({
  name,
  leads = false,
}: {
  readonly name: string;
  readonly leads?: boolean | undefined;
}): string {
  return `countersign-${name}${leads ? '.' : '-'}`;
}

/** Returns the name of the Lease whose holder is the leader of a component's replicas. */
export function leaderLease(component: string, secretNamespace: string): string {
  return leasePrefix({ name: component, leads: true }) + secretNamespace;
}

/**
 * Returns the labels by which the replicas of a component in one installation find each other's
 * Leases.
 */
export function leaseLabels(
  component: string,
  secretNamespace: string,
): Readonly<Record<string, string>> {
  return { ...installationLabels(secretNamespace), [LABEL_COMPONENT]: component };
}

/** Returns the labels of the Leases of all components of one installation. */
export function installationLabels(secretNamespace: string): Readonly<Record<string, string>> {
  return {
    [LABEL_NAME]: 'countersign',
    'countersign.dev/secret-namespace': secretNamespace,
  };
}

/** A DNS subdomain with room for a prefix. */
const POD_NAME = /^[a-z0-9]([-a-z0-9.]{0,198}[a-z0-9])?$/;

/**
 * Returns the name of a replica's own Lease. In a pod it derives from the pod's name, so that a
 * restarted container replaces its predecessor at once. Elsewhere it is random, since one machine
 * may run several replicas.
 *
 * @param pod - name of the pod, or undefined outside of a cluster
 */
export function memberLease(component: string, pod: string | undefined, random: Random): string {
  const prefix = leasePrefix({ name: component });
  if (pod === undefined || !POD_NAME.test(pod)) {
    return prefix + Buffer.from(random(5)).toString('hex');
  }
  return pod.startsWith(prefix) ? pod : prefix + pod;
}
