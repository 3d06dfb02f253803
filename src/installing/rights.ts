// SPDX-License-Identifier: Apache-2.0
import { permissionText } from '../kube/client/access-review.ts';
import type { PermissionRule } from '../kube/resource/permissions.ts';
import type { Component } from '../runtime/component/component.ts';
import type { InstalledKind, Refusal } from './desired.ts';

/** Missing permissions that a message names; it counts the rest. */
const MAX_RIGHTS_NAMED = 5;

/** Whether the operator holds what an installation takes, remembered while nothing says otherwise. */
export interface RightsGate {
  /** Asks the API server, if it is not known. @throws KubeError */
  readonly refuse: (rules: readonly PermissionRule[]) => Promise<Refusal | undefined>;
  /** A call was forbidden: ask again. */
  readonly forget: () => void;
}

/** Nothing is half installed for want of a permission: all of them are asked for before anything is written. */
export function createRightsGate(
  { missingPermissions }: Pick<Component, 'missingPermissions'>,
  { account, remedy }: Pick<InstalledKind, 'account' | 'remedy'>,
): RightsGate {
  let granted: string | undefined;
  return {
    refuse: async (rules) => {
      const subject = JSON.stringify(rules);
      if (subject === granted) return undefined;
      const missing = await missingPermissions(rules);
      granted = missing.length === 0 ? subject : undefined;
      return missing.length === 0
        ? undefined
        : rightsMissing({ account, remedy }, missing.map(permissionText));
    },
    forget: () => {
      granted = undefined;
    },
  };
}

function rightsMissing(
  { account, remedy }: Pick<InstalledKind, 'account' | 'remedy'>,
  missing: readonly string[],
): Refusal {
  const more =
    missing.length > MAX_RIGHTS_NAMED ? ` and ${missing.length - MAX_RIGHTS_NAMED} more` : '';
  const named = missing.slice(0, MAX_RIGHTS_NAMED).join(', ');
  return {
    reason: 'RightsMissing',
    message: `the roles of ${account} lack: ${named}${more}; ${remedy}`,
  };
}
