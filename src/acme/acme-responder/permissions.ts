// SPDX-License-Identifier: Apache-2.0
import { CHALLENGES } from '#api/acme/names.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';

/**
 * Returns the permissions of the component that faces the Internet. It reads Challenges, whose
 * tokens and key authorizations are public, and nothing else. It writes nothing, has no Lease, and
 * records no Events.
 */
export function permissions(): readonly PermissionRule[] {
  const { group, plural } = CHALLENGES;
  return [{ apiGroups: [group], resources: [plural], verbs: ['list', 'watch'] }];
}
