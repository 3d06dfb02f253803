// SPDX-License-Identifier: Apache-2.0
import { COUNTERSIGNS } from '#api/operator/countersign.ts';
import { NOT_ENDING, policy } from './policies.ts';
import type { Manifest } from '../roles.ts';

/** Name of the policy, and of its binding. */
export const WRITERS_POLICY = 'countersign-operator';

/**
 * Returns the policy that requires the verbs `sign` and `attest` on every signer name to write or
 * delete a Countersign. Its writer decides which signer names exist and what runs with their CA
 * keys.
 *
 * @returns a policy and its binding
 */
export function countersignsPolicy(): readonly Manifest[] {
  const { group, version, plural } = COUNTERSIGNS;
  return policy({
    name: WRITERS_POLICY,
    rule: {
      apiGroups: [group],
      apiVersions: [version],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      resources: [plural],
    },
    conditions: [NOT_ENDING],
    validations: (['sign', 'attest'] as const).map((verb) => ({
      expression: `authorizer.group('certificates.k8s.io').resource('signers').name('*')\n.check('${verb}').allowed()`,
      messageExpression: [
        `request.userInfo.username + ' may not ${verb} for every signer name, so it may not write or delete a'`,
        "+ ' Countersign; ask an administrator to grant it the verbs sign and attest on all'",
        "+ ' signers.certificates.k8s.io, or on the name *'",
      ].join('\n'),
    })),
  });
}
