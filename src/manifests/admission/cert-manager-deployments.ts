// SPDX-License-Identifier: Apache-2.0
/** What holds those who write a CertManagerDeployment, and the operator that installs it. */
import { CERT_MANAGER_DEPLOYMENTS } from '../../api/operator/cert-manager-deployment.ts';
import type { Manifest } from '../roles.ts';
import { whichEventsAreWritten } from './components.ts';
import { policy } from './policies.ts';

/** The name of the policy on writers, and of its binding. */
export const CERT_MANAGER_WRITERS = 'countersign-cert-manager-operator';
/** The same as that of the components' Events, for the namespace of this operator. */
export const CERT_MANAGER_EVENTS = 'countersign-cert-manager-events';

/** What the writer of a CertManagerDeployment gets by it → what they must have already. */
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
 * Whoever writes or deletes a CertManagerDeployment decides which cert-manager runs, where, with which flags, and whether
 * one does. So they need what cert-manager has.
 *
 * @param namespace - of its operator
 * @returns policies and their bindings
 */
export function whoWritesCertManagerDeployments(namespace: string): readonly Manifest[] {
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
      validations: NEEDED.map(({ check, lack, grant }) => ({
        expression: `authorizer.${check}.allowed()`,
        messageExpression: [
          `request.userInfo.username + ' may not ${lack}, so it may not write or delete a'`,
          `+ ' CertManagerDeployment; ask an administrator to grant it ${grant}'`,
        ].join('\n'),
      })),
    }),
    ...whichEventsAreWritten(namespace, CERT_MANAGER_EVENTS),
  ];
}
