// SPDX-License-Identifier: Apache-2.0
import type { ServingFault } from '#api/serving/report.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import { messageOf } from '#base/errors.ts';
import {
  missingPermissions,
  ownRules,
  permissionText,
  type MissingPermission,
} from '#kube/client/access-review.ts';
import type { Client } from '#kube/client/client.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { Clock, Delay, Log } from '#base/ports.ts';
import { poll } from '../poll.ts';
import { rightsFaults } from './rights-faults.ts';

/** The dependencies of a permission check. */
export interface PermissionCheckInit {
  readonly component: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly delay: Delay;
  readonly log: Log;
  /** Returns the permissions needed now. Their names depend on the served signers. */
  readonly permissions: () => readonly PermissionRule[];
  /** Returns all signers that the component sees. */
  readonly signers: () => readonly ClusterSigner[];
  /** Called after each check with the number of missing permissions. */
  readonly missing: (count: number) => void;
  /** Called after each check with the missing permissions as faults of the signers. */
  readonly checked: (signers: readonly ClusterSigner[], faults: readonly ServingFault[]) => void;
}

/** Checks by SelfSubjectAccessReviews that the component has the permissions that it needs. */
export interface PermissionCheck {
  /** Checks until `signal` is aborted. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Returns one line for each missing permission. */
  notReady(): readonly string[];
  /** Records a 403, so that a check follows at once. */
  refused(): void;
}

/**
 * The interval between comparisons of the rules: one small request for each namespace of the roles.
 */
const COMPARE_GRANTED_MS = 5_000;
/** The interval while a permission is missing, and after a change, which a second look confirms. */
const COMPARE_MISSING_MS = 3_000;
/** The interval while a permission is missing, for an authorizer whose rules are not listed. */
const RECHECK_MISSING_MS = 10_000;
/**
 * The interval otherwise. Granted permissions are rarely revoked, and each change of a role and
 * each 403 are noticed as well.
 */
const RECHECK_GRANTED_MS = 5 * 60_000;
/** The shortest time between checks after a 403. Policies and quotas answer 403, too. */
const MIN_BETWEEN_REFUSALS_MS = 10_000;

/**
 * Creates the check, which `run` of the result starts. Until the first result, the component is not
 * ready.
 */
export function createPermissionCheck(init: PermissionCheckInit): PermissionCheck {
  const check = new RunningCheck(init);
  return {
    notReady: () => check.reasons,
    refused: () => {
      check.refusals += 1;
    },
    run: (signal) =>
      poll(
        {
          delay: init.delay,
          subject: () => JSON.stringify([init.permissions(), seen(init), check.refusals]),
          look: () => check.look(),
        },
        signal,
      ),
  };
}

/** Returns the ClusterSigners in sight, because the report lists those with checked permissions. */
function seen({ signers }: PermissionCheckInit): string {
  const ofCluster = signers().filter((each) => !isNamespaced(each));
  return ofCluster.map(({ metadata }) => metadata.uid).join();
}

class RunningCheck {
  reasons: readonly string[] = ['permissions are not checked yet'];
  refusals = 0;
  readonly #init: PermissionCheckInit;
  /** The result of the last check. */
  #last:
    { subject: string; signers: string; rules: string; refusals: number; at: number } | undefined;
  /**
   * True if the rules changed before the last check. Another API server may learn that a moment
   * later.
   */
  #confirm = false;
  #missing: readonly MissingPermission[] = [];

  constructor(init: PermissionCheckInit) {
    this.#init = init;
  }

  async look(): Promise<number> {
    const rules = await this.#rules();
    const last = this.#last;
    const changed = last !== undefined && rules !== last.rules;
    if (this.#isDue(rules)) await this.#check(rules);
    else if (last !== undefined && last.signers !== seen(this.#init)) {
      this.#last = { ...last, signers: seen(this.#init) };
      this.#report(this.#init.signers());
    }
    this.#confirm = changed;
    return changed || this.reasons.length > 0 ? COMPARE_MISSING_MS : COMPARE_GRANTED_MS;
  }

  #isDue(rules: string): boolean {
    const { clock, permissions } = this.#init;
    const last = this.#last;
    if (last === undefined || this.#confirm || rules !== last.rules) return true;
    if (JSON.stringify(permissions()) !== last.subject) return true;
    const passed = Math.abs(clock() - last.at);
    if (this.refusals !== last.refusals && passed >= MIN_BETWEEN_REFUSALS_MS) return true;
    return passed >= (this.reasons.length > 0 ? RECHECK_MISSING_MS : RECHECK_GRANTED_MS);
  }

  /**
   * Returns the present rules, or the previous ones if the request fails. They only show when
   * reviews are due, and the reviews decide.
   */
  async #rules(): Promise<string> {
    const namespaces = new Set(
      this.#init
        .permissions()
        .flatMap(({ namespace }) => (namespace === undefined ? [] : namespace)),
    );
    // The rules of ClusterRoleBindings are in the review of every namespace.
    if (namespaces.size === 0) namespaces.add('default');
    try {
      return await ownRules(this.#init.client, [...namespaces].sort());
    } catch {
      return this.#last?.rules ?? '';
    }
  }

  async #check(rules: string): Promise<void> {
    const { client, clock, permissions, signers } = this.#init;
    const [needed, served] = [permissions(), signers()];
    const last = {
      subject: JSON.stringify(needed),
      signers: seen(this.#init),
      refusals: this.refusals,
      rules,
      at: clock(),
    };
    try {
      this.#found(await missingPermissions(client, needed), served);
      this.#last = last;
    } catch (error) {
      this.reasons = [`cannot check permissions: ${messageOf(error)}`];
      this.#last = undefined;
    }
  }

  #found(missing: readonly MissingPermission[], served: readonly ClusterSigner[]): void {
    const { component, log } = this.#init;
    const found = missing.map(
      (permission) =>
        `ClusterRole or Role countersign-${component} lacks: ${permissionText(permission)} (apply rbac/${component}.yaml, or the output of countersign rbac)`,
    );
    this.#init.missing(missing.length);
    for (const reason of found.filter((each) => !this.reasons.includes(each))) log.warn({}, reason);
    this.reasons = found;
    this.#missing = missing;
    this.#report(served);
  }

  #report(served: readonly ClusterSigner[]): void {
    const { component, checked } = this.#init;
    checked(served, rightsFaults(component, this.#missing, served));
  }
}
