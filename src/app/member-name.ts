// SPDX-License-Identifier: Apache-2.0
import type { Random } from '../ports.ts';

/** A DNS subdomain that leaves room for what is put before it. */
const NAME = /^[a-z0-9]([-a-z0-9.]{0,198}[a-z0-9])?$/;

/**
 * The name of a replica's own Lease. In a pod it is the pod's, so that a container that is started
 * again takes its predecessor's at once; elsewhere it is drawn, since one machine may run several.
 */
export function memberName(component: string, pod: string | undefined, random: Random): string {
  const prefix = `countersign-${component}-`;
  if (pod === undefined || !NAME.test(pod)) {
    return prefix + Buffer.from(random(5)).toString('hex');
  }
  return pod.startsWith(prefix) ? pod : prefix + pod;
}
