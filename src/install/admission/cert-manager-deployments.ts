// SPDX-License-Identifier: Apache-2.0
/** The policies for writers of a CertManagerDeployment, and for the operator that installs it. */
import { CERT_MANAGER_DEPLOYMENTS } from '#api/operator/cert-manager-deployment.ts';
import type { Manifest } from '../roles.ts';
import { eventsPolicy } from './components.ts';
import { NOT_ENDING, policy } from './policies.ts';

/** Name of the policy for writers, and of its binding. */
export const CERT_MANAGER_WRITERS = 'countersign-cert-manager-operator';
/** Name of the policy for Events in the namespace of this operator. */
export const CERT_MANAGER_EVENTS = 'countersign-cert-manager-events';

/**
 * The powers that a CertManagerDeployment gives its writer, and the permission that the writer must
 * already have.
 */
const NEEDED = [
  {
    // Its flags decide what is approved, for every Issuer.
    check: "group('cert-manager.io').resource('signers').name('*').check('approve')",
    lack: 'approve for every Issuer',
    grant: 'the verb approve on all signers.cert-manager.io, or on the name *',
  },
  {
    // They choose the nodes and the environment of pods whose token reads every Secret.
    check: "group('').resource('secrets').check('get')",
    lack: 'get the Secrets of all namespaces, as cert-manager may',
    grant: 'the verb get on secrets in all namespaces',
  },
] as const;

/**
 * Returns the policies for a CertManagerDeployment. Its writer decides which cert-manager runs, its
 * nodes and its flags, and may remove it. The writer therefore needs the permissions of
 * cert-manager.
 *
 * @param namespace - namespace of its operator
 * @returns policies and their bindings
 */
export function certManagerDeploymentsPolicy(namespace: string): readonly Manifest[] {
  const { group, version, plural } = CERT_MANAGER_DEPLOYMENTS;
  return [
    ...policy({
      name: CERT_MANAGER_WRITERS,
      rule: {
        apiGroups: [group],
        apiVersions: [version],
        operations: ['CREATE', 'UPDATE', 'DELETE'],
        resources: [plural],
      },
      conditions: [NOT_ENDING],
      validations: NEEDED.map(({ check, lack, grant }) => ({
        expression: `authorizer.${check}.allowed()`,
        messageExpression: [
          `request.userInfo.username + ' may not ${lack}, so it may not write or delete a'`,
          `+ ' CertManagerDeployment; ask an administrator to grant it ${grant}'`,
        ].join('\n'),
      })),
    }),
    ...eventsPolicy(namespace, CERT_MANAGER_EVENTS),
  ];
}
