// SPDX-License-Identifier: Apache-2.0
import { permissionText } from '../kube/client/access-review.ts';
import type { PermissionRule } from '../kube/resource/permissions.ts';
import type { Component } from '../runtime/component/component.ts';
import type { InstalledKind, Refusal } from './desired.ts';

/** Missing permissions that a message names; it counts the rest. */
const MAX_RIGHTS_NAMED = 5;

/** So soon what was missing, or found to be forbidden, is asked for again: an installation takes hundreds of reviews. */
export const ASK_AGAIN_MS = 10_000;

/** Whether the operator holds what an installation takes, remembered while nothing says otherwise. */
export interface RightsGate {
  /** Asks the API server, if it is not known. @throws KubeError */
  readonly refuse: (rules: readonly PermissionRule[]) => Promise<Refusal | undefined>;
  /** A call was forbidden: ask again, if the last answer is not a moment old. */
  readonly doubt: () => void;
}

/** What the API server said of one list of rules. */
interface Answer {
  readonly subject: string;
  readonly refusal: Refusal | undefined;
  readonly askedAt: number;
  /** Whether it is to be asked for again once it is {@link ASK_AGAIN_MS} old. */
  doubted: boolean;
}

/** Nothing is half installed for want of a permission: all of them are asked for before anything is written. */
export function createRightsGate(
  { missingPermissions, clock }: Pick<Component, 'missingPermissions' | 'clock'>,
  who: Pick<InstalledKind, 'account' | 'remedy'>,
): RightsGate {
  let last: Answer | undefined;
  const isValid = (answer: Answer, subject: string): boolean =>
    answer.subject === subject && !(answer.doubted && clock() >= answer.askedAt + ASK_AGAIN_MS);
  return {
    refuse: async (rules) => {
      const subject = JSON.stringify(rules);
      if (last === undefined || !isValid(last, subject)) {
        const missing = await missingPermissions(rules);
        const refusal =
          missing.length === 0 ? undefined : rightsMissing(who, missing.map(permissionText));
        last = { subject, refusal, askedAt: clock(), doubted: refusal !== undefined };
      }
      return last.refusal;
    },
    doubt: () => {
      if (last !== undefined) last.doubted = true;
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
