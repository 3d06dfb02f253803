// SPDX-License-Identifier: Apache-2.0
import { COUNTERSIGNS } from '../../api/operator/countersign.ts';
import { policy } from './policies.ts';
import type { Manifest } from '../roles.ts';

/** The name of the policy, and of its binding. */
export const WRITERS_POLICY = 'countersign-operator';

/**
 * Whoever writes or deletes a Countersign decides which signer names exist and what runs with their CA keys. So they need the verbs
 * `sign` and `attest` on every signer name.
 *
 * @returns a policy and its binding
 */
export function whoWritesCountersigns(): readonly Manifest[] {
  const { group, version, plural } = COUNTERSIGNS;
  return policy({
    name: WRITERS_POLICY,
    rule: {
      apiGroups: [group],
      apiVersions: [version],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      resources: [plural],
    },
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
