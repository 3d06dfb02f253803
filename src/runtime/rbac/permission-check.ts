// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../../errors.ts';
import { missingPermissions, permissionText } from '../../kube/client/access-review.ts';
import type { Client } from '../../kube/client/client.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { Delay, Log } from '../../ports.ts';
import { poll } from '../component/poll.ts';

export interface PermissionCheckInit {
  readonly component: string;
  readonly client: Client;
  readonly delay: Delay;
  readonly log: Log;
  /** Asked anew each time: what is served decides which names a role must hold. */
  readonly permissions: () => readonly PermissionRule[];
  readonly missing: (count: number) => void;
}

/** Whether the component holds the rights that its role must give, asked of the API server. */
export interface PermissionCheck {
  run(signal: AbortSignal): Promise<void>;
  notReady(): readonly string[];
}

/** While something is missing: soon enough that a grant heals at once for people. */
const RECHECK_MISSING_MS = 2_000;
/** Rights that are there seldom go away, and each 403 at work says so as well. */
const RECHECK_GRANTED_MS = 5 * 60_000;

export function createPermissionCheck(init: PermissionCheckInit): PermissionCheck {
  let reasons: readonly string[] = ['permissions are not checked yet'];

  async function check(): Promise<number> {
    const missing = await missingPermissions(init.client, init.permissions());
    const told = missing.map(
      (right) =>
        `ClusterRole or Role countersign-${init.component} lacks: ${permissionText(right)} (rbac/${init.component}.yaml, or countersign rbac)`,
    );
    init.missing(missing.length);
    for (const reason of told.filter((each) => !reasons.includes(each))) {
      init.log.warn({}, reason);
    }
    reasons = told;
    return told.length > 0 ? RECHECK_MISSING_MS : RECHECK_GRANTED_MS;
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
