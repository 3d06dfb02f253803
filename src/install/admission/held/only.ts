// SPDX-License-Identifier: Apache-2.0
import type { Manifest } from '#install/roles.ts';

/** Returns a match condition for the requests of one component. */
export function only(namespace: string, component: string): Manifest {
  const expression = `request.userInfo.username == '${userOf(namespace, component)}'`;
  return { name: `only-${component}`, expression };
}

/** Returns the username of a component's ServiceAccount. */
export function userOf(namespace: string, component: string): string {
  return `system:serviceaccount:${namespace}:countersign-${component}`;
}
