// SPDX-License-Identifier: Apache-2.0
import type { Random } from '../../ports.ts';

/** Where an installation keeps its Leases. */
export interface LeasePlace {
  readonly namespace: string;
  /**
   * What distinguishes installations: the namespaces of their CA Secrets. There is one, except for printed
   * roles.
   */
  readonly secretNamespaces: readonly string[];
}

/** The name of the Lease whose holder is the leader of a component's replicas. */
export function leaderLease(component: string, secretNamespace: string): string {
  return `countersign-${component}.${secretNamespace}`;
}

/** The labels by which the replicas of a component in one installation find each other's Leases. */
export function leaseLabels(
  component: string,
  secretNamespace: string,
): Readonly<Record<string, string>> {
  return { ...installationLabels(secretNamespace), [COMPONENT_LABEL]: component };
}

/** The label with the subcommand of the component whose Lease it is. */
export const COMPONENT_LABEL = 'app.kubernetes.io/component';

/** The labels of the Leases of all components of one installation. */
export function installationLabels(secretNamespace: string): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': 'countersign',
    'countersign.dev/secret-namespace': secretNamespace,
  };
}

/** A DNS subdomain with room for a prefix. */
const POD_NAME = /^[a-z0-9]([-a-z0-9.]{0,198}[a-z0-9])?$/;

/**
 * The name of a replica's own Lease. In a pod it is made from the pod's name, so that a restarted
 * container replaces its predecessor at once. Elsewhere it is random, since one machine may run several
 * replicas.
 *
 * @param pod - name of the pod; undefined outside of a cluster
 */
export function memberLease(component: string, pod: string | undefined, random: Random): string {
  const prefix = `countersign-${component}-`;
  if (pod === undefined || !POD_NAME.test(pod)) {
    return prefix + Buffer.from(random(5)).toString('hex');
  }
  return pod.startsWith(prefix) ? pod : prefix + pod;
}
