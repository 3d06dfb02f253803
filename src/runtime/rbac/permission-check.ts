// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../../errors.ts';
import { missingPermissions, permissionText } from '../../kube/client/access-review.ts';
import type { Client } from '../../kube/client/client.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { Delay, Log } from '../../ports.ts';
import { poll } from '../component/poll.ts';

/** What checking permissions needs. */
export interface PermissionCheckInit {
  readonly component: string;
  readonly client: Client;
  readonly delay: Delay;
  readonly log: Log;
  /** The permissions needed now: their names depend on the signers that are served. */
  readonly permissions: () => readonly PermissionRule[];
  /** Called after each check with the number of missing permissions. */
  readonly missing: (count: number) => void;
}

/** Checks by SelfSubjectAccessReviews that the component has the permissions that it needs. */
export interface PermissionCheck {
  /** Checks until `signal` is aborted. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** One line for each missing permission. */
  notReady(): readonly string[];
}

/** While a permission is missing: an administrator who grants it sees the effect at once. */
const RECHECK_MISSING_MS = 2_000;
/** Granted permissions are rarely revoked, and each 403 is reported as well. */
const RECHECK_GRANTED_MS = 5 * 60_000;

/** `run` of the result starts the check; until the first result, the component is not ready. */
export function createPermissionCheck(init: PermissionCheckInit): PermissionCheck {
  let reasons: readonly string[] = ['permissions are not checked yet'];

  async function check(): Promise<number> {
    const missing = await missingPermissions(init.client, init.permissions());
    const found = missing.map(
      (permission) =>
        `ClusterRole or Role countersign-${init.component} lacks: ${permissionText(permission)} (apply rbac/${init.component}.yaml, or the output of countersign rbac)`,
    );
    init.missing(missing.length);
    for (const reason of found.filter((each) => !reasons.includes(each))) {
      init.log.warn({}, reason);
    }
    reasons = found;
    return found.length > 0 ? RECHECK_MISSING_MS : RECHECK_GRANTED_MS;
  }

  return {
    notReady: () => reasons,
    run: (signal) =>
      poll(
        {
          delay: init.delay,
          subject: () => JSON.stringify(init.permissions()),
          look: () =>
            check().catch((error: unknown) => {
              reasons = [`cannot check permissions: ${messageOf(error)}`];
              return RECHECK_MISSING_MS;
            }),
        },
        signal,
      ),
  };
}
