// SPDX-License-Identifier: Apache-2.0
import { missingPermissions, permissionText } from '#kube/client/access-review.ts';
import type { Client } from '#kube/client/client.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';

/** Checks the user's permissions by SelfSubjectAccessReview, once for each rule. */
export interface Permissions {
  /**
   * Returns the missing permissions as `needs: …`, or undefined if all are granted. @throws
   * KubeError
   */
  missing(...rules: readonly PermissionRule[]): Promise<string | undefined>;
}

const GROUP = ['certificates.k8s.io'];

/** The verbs of upstream's tests of an API resource. */
export const ALL_VERBS = [
  'create',
  'get',
  'list',
  'watch',
  'patch',
  'update',
  'delete',
  'deletecollection',
] as const;

export function createPermissions(client: Client): Permissions {
  const requested = new Map<string, Promise<string | undefined>>();

  async function ask(rule: PermissionRule): Promise<string | undefined> {
    const missing = await missingPermissions(client, [rule]);
    return missing.length === 0 ? undefined : missing.map(permissionText).join(', ');
  }

  function answerOf(rule: PermissionRule): Promise<string | undefined> {
    const key = JSON.stringify(rule);
    const before = requested.get(key);
    if (before !== undefined) return before;
    const answer = ask(rule);
    requested.set(key, answer);
    return answer;
  }

  return {
    missing: async (...rules) => {
      const answers = await Promise.all(rules.map(answerOf));
      const missing = answers.filter((each) => each !== undefined);
      return missing.length === 0 ? undefined : `needs: ${missing.join(', ')}`;
    },
  };
}

/** Returns verbs on a resource of certificates.k8s.io. */
export function certificatesRule(
  verbs: readonly string[],
  resource: string,
  namespace?: string,
): PermissionRule {
  const where = namespace === undefined ? {} : { namespace };
  return { apiGroups: GROUP, resources: [resource], verbs, ...where };
}

/** Returns a verb on a signer name: approve, sign, attest. */
export function signerRule(verb: string, signerName: string): PermissionRule {
  return { apiGroups: GROUP, resources: ['signers'], resourceNames: [signerName], verbs: [verb] };
}

export function coreRule(
  verbs: readonly string[],
  resource: string,
  namespace: string,
): PermissionRule {
  return { apiGroups: [''], resources: [resource], verbs, namespace };
}
