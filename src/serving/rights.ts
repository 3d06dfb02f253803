// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../errors.ts';
import { missingRights, rightText } from '../kube/access.ts';
import type { Client } from '../kube/client.ts';
import type { PermissionRule } from '../kube/permissions.ts';
import type { Delay, Log } from '../ports.ts';

export interface RightsInit {
  readonly component: string;
  readonly client: Client;
  readonly delay: Delay;
  readonly log: Log;
  /** Asked anew each time: what is served decides which names a role must hold. */
  readonly permissions: () => readonly PermissionRule[];
  readonly missing: (count: number) => void;
}

/** Whether the component holds the rights that its role must give, asked of the API server. */
export interface Rights {
  run(signal: AbortSignal): Promise<void>;
  notReady(): readonly string[];
}

/** How soon a change of what is served is noticed. */
const LOOK_MS = 1_000;
/** While something is missing: soon enough that a grant heals at once for people. */
const AGAIN_MISSING_MS = 2_000;
/** Rights that are there seldom go away, and each 403 at work says so as well. */
const AGAIN_COMPLETE_MS = 5 * 60_000;

export function createRights(init: RightsInit): Rights {
  let reasons: readonly string[] = ['rights have not been checked yet'];
  let asked = '';
  let wait = 0;

  async function check(rules: readonly PermissionRule[]): Promise<void> {
    const missing = await missingRights(init.client, rules);
    const told = missing.map(
      (right) =>
        `ClusterRole or Role countersign-${init.component} lacks: ${rightText(right)} (rbac/${init.component}.yaml, or countersign rbac)`,
    );
    init.missing(missing.length);
    for (const reason of told.filter((each) => !reasons.includes(each))) {
      init.log.warn({ component: init.component }, reason);
    }
    reasons = told;
    wait = told.length > 0 ? AGAIN_MISSING_MS : AGAIN_COMPLETE_MS;
  }

  return {
    notReady: () => reasons,
    run: async (signal) => {
      while (!signal.aborted) {
        const rules = init.permissions();
        const text = JSON.stringify(rules);
        if (wait <= 0 || text !== asked) {
          asked = text;
          await check(rules).catch((error: unknown) => {
            reasons = [`rights could not be checked: ${messageOf(error)}`];
            wait = AGAIN_MISSING_MS;
          });
        }
        wait -= LOOK_MS;
        await init.delay(LOOK_MS, signal).catch(() => undefined);
      }
    },
  };
}
