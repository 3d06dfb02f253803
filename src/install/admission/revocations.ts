// SPDX-License-Identifier: Apache-2.0
import { REVOCATIONS } from '#api/revocation/names.ts';
import { crlConfigMapName } from '#api/revocation/names.ts';
import type { Manifest } from '../roles.ts';
import { authorizedOnSignerCel } from '../signer-access.ts';
import { keysAlone, type ComponentNames } from './components.ts';
import { only } from './held/only.ts';
import { NOT_ENDING, policy } from './policies.ts';

/**
 * Returns the policy that requires the verb `revoke` on the signer name to write or delete a
 * Revocation, because a Revocation stops workloads.
 *
 * @returns a policy and its binding
 */
export function revocationsPolicy(): readonly Manifest[] {
  const { group, version, plural } = REVOCATIONS;
  const name = '(object == null ? oldObject : object).spec.signerName';
  return policy({
    name: 'countersign-revocations',
    rule: {
      apiGroups: [group],
      apiVersions: [version],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      resources: [plural],
    },
    conditions: [NOT_ENDING],
    validations: [
      {
        expression: authorizedOnSignerCel('revoke', name),
        messageExpression: [
          `request.userInfo.username + ' may not revoke certificates of ' + ${name}`,
          "+ ', so it may not write or delete its Revocations; ask an administrator to grant it the verb'",
          `+ ' revoke on signers.certificates.k8s.io ' + ${name}`,
        ].join('\n'),
      },
    ],
  });
}

/**
 * Returns the policy that lets `authority` create only the ConfigMaps of its installation's CRLs.
 * RBAC names those that it changes.
 */
export function authorityCrlPolicy({
  namespace,
  secrets,
}: Pick<ComponentNames, 'namespace' | 'secrets'>): readonly Manifest[] {
  const places = secrets.map((each) => `'${each.namespace}/${crlConfigMapName(each.name)}'`);
  return policy({
    name: 'countersign-authority-crls',
    rule: {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['CREATE', 'UPDATE'],
      resources: ['configmaps'],
    },
    conditions: [only(namespace, 'authority')],
    validations: [
      {
        expression: `oldObject != null\n|| request.namespace + '/' + object.metadata.name in [${places.join(', ')}]`,
        messageExpression: [
          "request.userInfo.username + ' may not create ConfigMap ' + request.namespace + '/' + object.metadata.name",
          "+ ': it holds no CRLs of this installation; countersign rbac --secret prints the policy for more'",
        ].join('\n'),
      },
      keysAlone('ConfigMap'),
    ],
  });
}
