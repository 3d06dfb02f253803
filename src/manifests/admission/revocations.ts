// SPDX-License-Identifier: Apache-2.0
import { REVOCATIONS } from '../../api/revocation/revocation.ts';
import { crlConfigMapName } from '../../api/revocation/revocation.ts';
import type { Manifest } from '../roles.ts';
import { only, type ComponentNames } from './components.ts';
import { policy } from './policies.ts';

/**
 * Whoever writes or deletes a Revocation takes workloads down. So they need the verb
 * `revoke` on the signer name.
 *
 * @returns a policy and its binding
 */
export function whoRevokes(): readonly Manifest[] {
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
    validations: [
      {
        expression: `authorizer.group('certificates.k8s.io').resource('signers').name(${name})\n.check('revoke').allowed()`,
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
 * `authority` makes the ConfigMaps of its installation's CRLs and no others.
 *
 * @returns a policy and its binding
 */
export function whichConfigMapsTheAuthorityMakes({
  namespace,
  secrets,
}: Pick<ComponentNames, 'namespace' | 'secrets'>): readonly Manifest[] {
  const places = secrets.map((each) => `'${each.namespace}/${crlConfigMapName(each.name)}'`);
  return policy({
    name: 'countersign-authority-crls',
    rule: {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['CREATE'],
      resources: ['configmaps'],
    },
    conditions: [only(namespace, 'authority')],
    validations: [
      {
        expression: `request.namespace + '/' + object.metadata.name in [${places.join(', ')}]`,
        messageExpression: [
          "request.userInfo.username + ' may not create ConfigMap ' + request.namespace + '/' + object.metadata.name",
          "+ ': it holds no CRLs of this installation; countersign rbac --secret prints the policy for more'",
        ].join('\n'),
      },
    ],
  });
}
