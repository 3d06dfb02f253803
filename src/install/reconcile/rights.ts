// SPDX-License-Identifier: Apache-2.0
import { permissionText } from '#kube/client/access-review.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { Component } from '#component/contract.ts';
import type { InstalledKind, Refusal } from './desired.ts';

/** Missing permissions that a message names. It counts the rest. */
const MAX_RIGHTS_NAMED = 5;

/**
 * Time after which a missing or doubted permission is checked again. An installation takes hundreds
 * of reviews.
 */
export const ASK_AGAIN_MS = 10_000;

/** Cached check of the permissions for an installation. */
export interface RightsGate {
  /**
   * Queries the API server unless the answer is cached.
   *
   * @throws KubeError
   */
  readonly refuse: (rules: readonly PermissionRule[]) => Promise<Refusal | undefined>;
  /**
   * Marks the answer as doubtful after a forbidden call, so that the next check repeats it once it
   * is old enough.
   */
  readonly doubt: () => void;
}

/** Answer of the API server for one list of rules. */
interface Answer {
  readonly subject: string;
  readonly refusal: Refusal | undefined;
  readonly askedAt: number;
  /** The answer is checked again once it is {@link ASK_AGAIN_MS} old. */
  doubted: boolean;
}

/**
 * Checks all permissions before the first write, so that a missing one does not leave an
 * installation half done.
 */
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
    reason: 'MissingPermissions',
    message: `the roles of ${account} lack: ${named}${more}; ${remedy}`,
  };
}
